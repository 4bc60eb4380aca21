"""Bounds on the noise from public requirements alone: nothing here sees an entry."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats
from smqopt.query.exponential._release import lowered


def sure_costs(epsilon: Floats) -> Floats:
    """Give S(s) for s = 1, …, k: changing s entries costs at least the sum of the s smallest requirements.

    The requirements are those of the draw (`lowered`), and the sums are cut where the draw's
    weights are; both make the costs smaller, and so the half-width larger.
    """
    epsilon_used, ceiling = lowered(epsilon)
    return np.minimum(np.cumsum(np.sort(epsilon_used)), ceiling)


def fewest_changes(tail: Floats, level: float) -> int:
    """Give the smallest t with tail(t) ≤ 1 − level.

    Parameters
    ----------
    tail
        Bounds on P(at least t changes), for t = 1, …, shape (most,), non-increasing, in [0, ∞).
        More changes than `most` are impossible.
    level
        In (0, 1).

    Returns
    -------
    int
        t, or `most` where no t does.
    """
    allowance = (
        1.0 + (tail.size + 64) * np.finfo(np.float64).eps
    )  # bears the rounding of the sum and of the exponentials
    enough = np.flatnonzero(tail * allowance <= 1.0 - level)
    return int(enough[0]) + 1 if enough.size else int(tail.size)
