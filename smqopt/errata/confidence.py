"""E10: Lemma 1 speaks only of confidences above one half."""

from __future__ import annotations

import sympy as sp

from smqopt.errata.entry import Entry, Evidence

__all__ = ["CONFIDENCE"]


def _check() -> Evidence:
    n, alpha = sp.symbols("n alpha", positive=True)
    delta = sp.Symbol("delta", positive=True)
    bound = n / (4 * alpha) * (sp.log(delta) - sp.log(1 - delta))
    at_half = sp.simplify(bound.subs(delta, sp.Rational(1, 2)))
    slope = sp.simplify(bound.diff(delta) - n / (4 * alpha * delta * (1 - delta)))
    return Evidence(at_half == 0, slope == 0, f"at δ = 1/2 the bound is {at_half}, and it rises in δ")


CONFIDENCE = Entry(
    10,
    "accuracy (Lemma 1)",
    "The bound on purchased privacy speaks of every δ in (0, 1).",
    "It says something only for δ > 1/2; at and below, it is at most 0.",
    _check,
)
