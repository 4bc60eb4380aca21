"""Weak duality: an upper bound from market, budget and a price alone.

For every λ ≥ 0, no thresholds that keep the budget buy more than λB + Σ m_i max_q {ε_i q − λ
C_i(q)}. Replacing C by its convex hull C̄ can only raise the bound, and for a regular law changes
nothing. The inner function is then concave in acceptance with slope δ = ε − λJ(θ) off the flat
pieces, so two tangents on either side of its top bound the top, whatever the accuracy of the points
they touch at. The bound is rounded up; nothing here trusts the solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Market
from smqopt.numeric import ROUNDING, TANGENT, Floats, exact_dot, exact_sum
from smqopt.valuation import FlatPieces, Ironed, Stretch, Valuation, iron
from smqopt.verification.checks._answers_at_price import answer_of, offer_of

_SPACINGS = 32
"""Of doubles, within which θ(λ) is one: J of a narrow support far from 0 has few digits."""


@dataclass(frozen=True)
class _Tangent:
    """The line that touches h at a threshold."""

    q: Floats
    height: Floats
    slope: Floats
    size: Floats
    """The sum of the absolute terms of the height, for the rounding allowance."""


def weights(market: Market) -> Floats:
    """Return how many owners each row stands for, as floats; shape (n,) or (1,)."""
    return market.weights


def expected_spend(market: Market, thresholds: Floats, acceptance: Floats) -> float:
    """Return Σ m_i θ_i q_i, in currency; the larger of two ways of rounding."""
    cost = thresholds * acceptance
    return max(exact_dot(cost, weights(market)), exact_dot(thresholds, acceptance * weights(market)))


def widths(market: Market) -> Floats:
    """Return the supports' widths in currency, the value for a point mass; (n,)."""
    width = market.high - market.low
    return np.where(width > 0, width, np.where(market.high > 0, market.high, 1.0))


def beyond_spacing(distance: Floats, thresholds: Floats) -> Floats:
    """Return distances beyond a few spacings of doubles; shape (n,)."""
    return np.asarray(np.maximum(distance - _SPACINGS * np.spacing(thresholds), 0.0))


def purchased_privacy(market: Market, acceptance: Floats) -> float:
    """Return Σ m_i ε_i q_i, rounded to nearest."""
    return exact_dot(market.epsilon, acceptance * weights(market))


def offers_at_price(market: Market, price: float | Floats, requirement: Floats | None = None) -> tuple[Floats, Floats]:
    """Return θ_i(λ) and q_i(λ), where J is ε_i/λ (KKT); shape (n,) each.

    A requirement may stand for ε, and each owner may have a price of her own.
    """
    e = market.epsilon if requirement is None else requirement
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        v = np.where(e > 0, e / price, 0.0)
    theta, q = np.empty(market.n), np.empty(market.n)
    for law, owners in market.valuation.parts():
        theta[owners], q[owners] = iron(law).offer(v[owners])
    return theta, q


def spend_at_price(market: Market, price: float) -> float:
    """Return the expected spend at θ(λ), in currency; it does not rise with λ."""
    return expected_spend(market, *offers_at_price(market, price))


Tops = Callable[[Valuation, Floats, Floats, Floats, Floats], tuple[Floats, Floats]]
"""Bounds the top of a Lagrangian for each owner of a law, as `tops` does."""


def upper_bound(market: Market, budget: float, price: float, tops_of: Tops | None = None) -> float:
    """Bound the optimum of OP2 from above by weak duality, rounded up.

    Parameters
    ----------
    market
        n owners of regular laws.
    budget
        B ≥ 0, in currency.
    price
        λ ≥ 0; +∞ is understood as the limit, which is 0 at a zero budget and +∞ else.
    tops_of
        What bounds each owner's top; `tops` by default.

    Returns
    -------
    float
        The bound, in units of ε; +∞ where λ is no price at all (negative or NaN), for then nothing
        is bounded.
    """
    if not market.epsilon.any():
        return 0.0
    if budget == 0:
        free = np.where(market.low == 0, market.valuation.cdf(market.low), 0.0)  # an atom at 0 sells for nothing
        return purchased_privacy(market, free) * (1.0 + ROUNDING.value)
    if not 0 <= price < math.inf:
        return math.inf
    if price == 0:
        every = exact_dot(market.epsilon, np.broadcast_to(weights(market), market.epsilon.shape))
        return every * (1.0 + ROUNDING.value)
    m = np.broadcast_to(weights(market), market.epsilon.shape)
    terms, sizes = np.empty(market.n), np.empty(market.n)
    for law, owners in market.valuation.parts():
        required = market.epsilon[owners]
        nobody, everybody = np.zeros(required.size), np.ones(required.size)
        rows = required, np.full(required.size, price), nobody, everybody
        terms[owners], sizes[owners] = (tops_of or tops)(law, *rows)
    allowance = exact_sum(np.append(sizes * m, price * budget)) * ROUNDING.value
    return exact_sum(np.append(terms * m, price * budget)) + allowance


def tops(law: Valuation, epsilon: Floats, price: Floats, lowest: Floats, highest: Floats) -> tuple[Floats, Floats]:
    """Bound max {ε q − λ C̄(q): lowest ≤ q ≤ highest}, with sizes added.

    Parameters
    ----------
    law
        The owners' law.
    epsilon
        Requirements of any sign, shape (n,).
    price
        Prices > 0, shape (n,).
    lowest, highest
        Bounds of acceptance, shape (n,) each.
    """
    surely = lowest >= 1  # at the lowest price that is accepted for sure; slopes may be infinite there
    sure = law.ppf(np.ones(law.size or 1))
    value, size = epsilon - price * sure, np.abs(epsilon) + price * sure
    lowest, highest = np.where(surely, 0.0, lowest), np.where(surely, 1.0, highest)
    v, held = tangent_slopes(law, epsilon, price, lowest, highest)
    answer = iron(law)
    hull = answer if isinstance(answer, Ironed) else Ironed(law, FlatPieces.none(), law.size or 1)
    wanted = np.where(held, v, np.nan)
    stretch = hull.stretch(hull.count_passed(v))
    theta, _ = offer_of(answer_of(law, v.size), None, v.copy())
    near = 8 * np.spacing(
        theta
    )  # where J jumps, far tangents are too steep; where it is smooth, near ones are all rounding
    far = np.maximum(TANGENT.value * (theta - stretch.low), near)
    ends = lowest, highest, wanted
    (first, sizes), (second, _) = (
        _bound_by_tangents(law, stretch, epsilon, price, theta, offset, ends) for offset in (far, near)
    )
    return np.where(surely, value, np.minimum(first, second)), np.where(surely, size, sizes)


def tangent_slopes(
    law: Valuation, epsilon: Floats, price: Floats, lowest: Floats, highest: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the hull's slope at each top, and whether a bound holds it there.

    The slope is ε/λ, or that at the bound which she would pass. Parameters are as for `tops`.
    """
    with np.errstate(over="ignore"):
        v = np.maximum(epsilon, 0.0) / price
    q = offer_of(answer_of(law, v.size), None, v.copy())[1]
    outside = (q < lowest) | (q > highest)
    held = np.flatnonzero(outside)
    if held.size:
        answer = iron(law)
        hull = answer if isinstance(answer, Ironed) else Ironed(law, FlatPieces.none(), law.size or 1)
        v[held] = _slope(hull, np.clip(q, lowest, highest), held)
    return v, outside


def _slope(hull: Ironed, q: Floats, owners: NDArray[np.intp]) -> Floats:
    """Return the slope of the hull of C at acceptances, for some owners."""
    slopes = np.full(q.size, np.nan)
    law = hull.law if hull.common else hull.law.take(owners)
    slopes[owners] = law.virtual_cost(law.ppf(q[owners]))
    # where a piece begins every slope up to its own will do, be J infinite there or that beyond
    after = hull.stretch(_begun(hull, q)).slope_after if len(hull.pieces) else np.inf
    slopes[:] = np.minimum(slopes, np.nextafter(after, 0.0))
    on = hull.around(q, to_the_end=True)
    slopes[on.owner] = on.slope
    return slopes[owners]


def _begun(hull: Ironed, q: Floats) -> NDArray[np.intp]:
    """Count, for each owner, the pieces that end at her acceptance or before."""
    ends = hull.pieces.high_acceptance
    if hull.common:
        return np.searchsorted(ends, q, side="right")
    return np.bincount(hull.pieces.owner, weights=ends <= q[hull.pieces.owner], minlength=q.size).astype(np.intp)


def _bound_by_tangents(
    law: Valuation,
    stretch: Stretch,
    epsilon: Floats,
    price: Floats,
    theta: Floats,
    offset: Floats,
    ends: tuple[Floats, Floats, Floats],
) -> tuple[Floats, Floats]:
    """Bound the top by the tangents at an offset to either side."""
    lowest, highest, wanted = ends
    left = _tangent(law, stretch, epsilon, price, np.maximum(theta - offset, stretch.low), wanted)
    right = _tangent(law, stretch, epsilon, price, np.minimum(theta + offset, stretch.high), wanted)
    with np.errstate(invalid="ignore", over="ignore"):
        beyond_right = np.where(right.q != highest, right.slope * (highest - right.q), 0.0)
        before_left = np.where(left.q != lowest, left.slope * (lowest - left.q), 0.0)
        between = np.where(left.slope > 0, left.slope * (right.q - left.q), 0.0)
        tops = np.where(
            right.slope > 0,
            right.height + beyond_right,
            np.where(left.slope < 0, left.height + before_left, left.height + between),
        )
        to_the_top = np.where(left.q != highest, left.slope * (highest - left.q), 0.0)
        # inside a flat piece, where J jumps at its upper end, the left tangent alone is the chord
        tops = np.where((left.slope > 0) & (left.q >= highest), np.minimum(tops, left.height + to_the_top), tops)
    return tops, left.size + right.size


def _tangent(
    law: Valuation, stretch: Stretch, epsilon: Floats, price: Floats, theta: Floats, wanted: Floats
) -> _Tangent:
    """Touch ε q − λ C̄(q) at a threshold of a rising stretch.

    Where C̄ has a kink, its slope is the one nearest to what is wanted, where that is a number;
    else that of the line nearest to level.
    """
    J = law.virtual_cost(theta)
    at_low, at_high = theta <= stretch.low, theta >= stretch.high
    least = np.where(at_low, stretch.slope_before, np.where(at_high, np.minimum(J, stretch.slope_after), J))
    most = np.where(at_high, stretch.slope_after, np.where(at_low, np.maximum(J, stretch.slope_before), J))
    q = np.where(at_low, stretch.low_acceptance, np.where(at_high, stretch.high_acceptance, law.cdf(theta)))
    with np.errstate(over="ignore", invalid="ignore"):
        slope = np.where(epsilon > price * most, epsilon - price * most, np.minimum(epsilon - price * least, 0.0))
        slope = np.where(np.isnan(wanted), slope, epsilon - price * np.minimum(np.maximum(wanted, least), most))
        height = q * (epsilon - price * theta)
        size = q * (np.abs(epsilon) + price * theta)
    return _Tangent(q, height, slope, size)
