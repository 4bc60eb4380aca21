"""E16: Lemma 1 does not hold for every linear predictor."""

from __future__ import annotations

import math
from collections.abc import Callable

from smqopt.paper.errata._entry import Claim, Entry, Finding

Covers = Callable[[float], bool]
"""Whether the lemma is claimed for linear predictors whose weights all equal w, on entries in [0,
1]."""

OWNERS = 8
DELTA = 0.9


def every_weight(weight: float) -> bool:
    """Any linear predictor has w ≠ 0."""
    return weight != 0


def counts_alone(weight: float) -> bool:
    """A count has w = 1."""
    return weight == 1


def _trial(covers: Covers) -> Finding:
    """Check that no constant answer is accurate where the lemma wants privacy."""
    covered = [weight for weight in (1e-6, 1e-3, 0.2, 1.0) if covers(weight)]
    for weight in covered:
        for alpha in range(1, OWNERS // 4 + 1):
            claimed = OWNERS / (4 * alpha) * (math.log(DELTA) - math.log(1 - DELTA))
            error = OWNERS * weight / 2  # of the constant n w/2, at worst
            if error < alpha and claimed > 0:
                return Finding(
                    False,
                    f"w = {weight:g}: a constant errs by at most {error:g} < {alpha} and buys no privacy, where Lemma 1 asks for {claimed:.3f}",
                )
    return Finding(bool(covered), f"no constant answer is accurate for weights {covered}")


SMALL_WEIGHTS = Entry(
    "E16",
    "accuracy (Lemma 1)",
    Claim("holds for any linear predictor", every_weight),
    Claim(
        "false for small weights; for count and median a necessary level of purchased privacy, never a guarantee",
        counts_alone,
    ),
    _trial,
)
