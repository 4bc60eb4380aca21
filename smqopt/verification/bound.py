"""The weak-duality bound: an upper bound on purchased privacy from the market, the budget and a price alone.

For every λ ≥ 0, no thresholds that keep the budget buy more than λB + Σ m_i max_q {ε_i q − λ C_i(q)}. For a regular law the inner
function h is concave in acceptance with slope δ = ε − λJ(θ), so two tangents on either side of its top bound the top, whatever the
accuracy of the point they are taken at. The bound is rounded up; nothing here trusts the solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric.sums import exact_dot, exact_sum
from smqopt.numeric.tolerances import ROUNDING, TANGENT
from smqopt.program.market import Market

__all__ = ["expected_spend", "purchased_privacy", "spend_at_price", "thresholds_at_price", "upper_bound"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Tangent:
    """The line that touches h at a threshold."""

    q: Floats
    height: Floats
    slope: Floats
    size: Floats
    """The sum of the absolute terms of the height, for the rounding allowance."""


def weights(market: Market) -> Floats:
    """Give how many owners each row stands for, as floats; shape (n,) or (1,)."""
    return np.ones(1) if market.multiplicity is None else market.multiplicity.astype(np.float64)


def expected_spend(market: Market, thresholds: Floats, acceptance: Floats) -> float:
    """Give Σ m_i θ_i q_i, in currency; the larger of two ways of rounding (products first, or not at all)."""
    cost = thresholds * acceptance
    return max(exact_dot(cost, weights(market)), exact_dot(thresholds, acceptance * weights(market)))


def purchased_privacy(market: Market, acceptance: Floats) -> float:
    """Give Σ m_i ε_i q_i, rounded to nearest."""
    return exact_dot(market.epsilon, acceptance * weights(market))


def thresholds_at_price(market: Market, price: float) -> Floats:
    """Give θ_i(λ), where J_i = ε_i/λ, clipped to the support; shape (n,), in currency (KKT)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        v = np.where(market.epsilon > 0, market.epsilon / price, 0.0)
    return market.valuation.inverse_virtual_cost(v)


def spend_at_price(market: Market, price: float) -> float:
    """Give the expected spend at θ(λ), in currency; it does not rise with λ."""
    theta = thresholds_at_price(market, price)
    return expected_spend(market, theta, market.valuation.cdf(theta))


def upper_bound(market: Market, budget: float, price: float) -> float:
    """Bound the optimum of OP2 from above by weak duality, rounded up.

    Parameters
    ----------
    market
        n owners of regular laws.
    budget
        B ≥ 0, in currency.
    price
        λ ≥ 0; +∞ is understood as the limit, which is 0 at a zero budget and +∞ else.

    Returns
    -------
    float
        The bound, in units of ε; +∞ where λ is no price at all (negative or NaN), for then nothing is bounded.
    """
    if budget == 0 or not market.epsilon.any():
        return 0.0
    if not 0 <= price < math.inf:
        return math.inf
    if price == 0:
        every = exact_dot(market.epsilon, np.broadcast_to(weights(market), market.epsilon.shape))
        return every * (1.0 + ROUNDING.value)
    theta = thresholds_at_price(market, price)
    low, high = market.low, market.high
    offset = np.maximum(TANGENT.value * (theta - low), 8 * np.spacing(theta))
    left = _tangent(market, price, np.maximum(theta - offset, low))
    right = _tangent(market, price, np.minimum(theta + offset, high))
    with np.errstate(invalid="ignore", over="ignore"):
        beyond_right = np.where(right.q < 1, right.slope * (1.0 - right.q), 0.0)
        before_left = np.where(left.q > 0, -left.slope * left.q, 0.0)
        between = np.where(left.slope > 0, left.slope * (right.q - left.q), 0.0)
        tops = np.where(
            right.slope > 0,
            right.height + beyond_right,
            np.where(left.slope < 0, left.height + before_left, left.height + between),
        )
    m = weights(market)
    terms = np.append(tops * m, price * budget)
    allowance = exact_sum(np.append((left.size + right.size) * m, price * budget)) * ROUNDING.value
    return exact_sum(terms) + allowance


def _tangent(market: Market, price: float, theta: Floats) -> _Tangent:
    """Touch h(q) = ε q − λ q F⁻¹(q) at q = F(θ)."""
    law, epsilon = market.valuation, market.epsilon
    q = law.cdf(theta)
    with np.errstate(over="ignore", invalid="ignore"):
        slope = epsilon - price * law.virtual_cost(theta)
        height = q * (epsilon - price * theta)
        size = q * (epsilon + price * theta)
    return _Tangent(q, height, slope, size)
