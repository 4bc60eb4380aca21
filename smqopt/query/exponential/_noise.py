"""Bounds on the noise from public requirements alone: nothing here sees an entry."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats
from smqopt.query.exponential._release import lower_to_grid


def sure_costs(epsilon: Floats) -> Floats:
    """Return S(s), s = 1, …, k: the sum of the s smallest requirements.

    Changing s entries costs at least that.

    The requirements are those of the draw (`lower_to_grid`), and the sums are cut where the draw's
    weights are; both make the costs smaller, and so the half-width larger.
    """
    epsilon_used, ceiling = lower_to_grid(epsilon)
    return np.minimum(np.cumsum(np.sort(epsilon_used)), ceiling)


def fewest_changes(tail: Floats, level: float) -> int:
    """Return the smallest t with tail(t) ≤ 1 − level.

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
