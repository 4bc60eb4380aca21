"""What one rounding of a threshold is worth: how near any doubles can come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Solution
from smqopt.numeric import exact_sum
from smqopt.verification.checks._weak_duality import weights


def threshold_resolution(solution: Solution, wanted: NDArray[np.bool_] | None = None) -> float:
    """Return Σ m_i ulp(θ_i)(F_i + θ_i f_i) over the owners wanted, in currency.

    It is what one unit in the last place of every threshold costs, in currency.

    The density is taken as the difference of F over that unit, so that an infinite f(θ̲) does no
    harm.
    """
    market, theta = solution.market, solution.thresholds
    above = np.minimum(np.nextafter(theta, np.inf), market.high)
    q, q_above = market.valuation.cdf(theta), market.valuation.cdf(above)
    steps = np.where(market.epsilon > 0 if wanted is None else wanted, (above - theta) * q + above * (q_above - q), 0.0)
    return exact_sum(steps * weights(market))


def lottery_resolution(solution: Solution) -> float:
    """Return what a few units in the last place of every chance cost."""
    drawn = solution.lottery
    if drawn is None:
        return 0.0
    paid = drawn.prices * drawn.acceptances
    jumps = paid.max(axis=1) - paid.min(axis=1)
    counts = np.broadcast_to(weights(solution.market), (solution.market.n,))[drawn.owner]
    return exact_sum(counts * jumps) * 4 * float(np.finfo(np.float64).eps)
