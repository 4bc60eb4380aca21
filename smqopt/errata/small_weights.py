"""E16: Lemma 1 does not hold for every linear predictor."""

from __future__ import annotations

import math

from smqopt.errata.entry import Entry, Evidence

__all__ = ["SMALL_WEIGHTS"]


def _check() -> Evidence:
    n, weight, alpha, delta = 8, 1e-6, 1, 0.9
    largest_answer = n * weight  # entries in [0, 1]
    constant_is_accurate = largest_answer < alpha  # the constant 0 errs by less than α, surely
    claimed = n / (4 * alpha) * (math.log(delta) - math.log(1 - delta))
    return Evidence(
        printed_fails=constant_is_accurate and claimed > 0,
        corrected_holds=not n * 1.0 < alpha,  # with weights of 1, as for a count, the constant is not accurate
        detail=f"a constant answer errs by at most {largest_answer:g} < α and buys no privacy, where Lemma 1 asks for {claimed:.3f}",
    )


SMALL_WEIGHTS = Entry(
    16,
    "accuracy (Lemma 1)",
    "Any (α, δ)-PAC mechanism for a linear predictor buys at least n/(4α) ln(δ/(1 − δ)) of privacy.",
    "False for bounded entries and small weights. For count and median it is a necessary level of realised purchased privacy, never a guarantee.",
    _check,
)
