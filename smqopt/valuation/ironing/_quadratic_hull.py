"""Cost curves of quadratic pieces, and their convex hulls in closed form.

On a quadratic F⁻¹ runs straight from θ₀ at q₀ to θ₁ at q₁, so that C is a parabola with slope J = θ
+ q (θ₁ − θ₀)/(q₁ − q₀) in acceptance. For a slope σ let q(σ) be where J = σ on the quadratic,
clipped to it. Two quadratics have a common tangent of slope σ where

    g(σ) = max_q (σq − C₂(q)) − max_q (σq − C₁(q)) = q₂(σ)(σ − θ₂(σ)) − q₁(σ)(σ − θ₁(σ))

vanishes. g is a parabola between the slopes at which an end of a quadratic is reached, and does not
fall, so its root is found in closed form. The hull is built from left to right (Andrew 1979): an
quadratic that the tangent to the next one passes below is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Indices
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments

BLOCK = 1 << 12
"""Laws whose hulls are built at once."""
NARROW = 4
"""A piece whose ends are so few spacings of doubles apart is left out: its two thresholds are one
price."""
CORRECTIONS = 2
"""Solutions of the parabola anew, from the last one, which lose what rounding did to it; Newton
steps would overshoot near a double root."""


@dataclass(frozen=True, eq=False)
class QuadraticPieces:
    """Quadratic pieces of cost curves, law by law and from left to right; columns."""

    start: Indices
    """Where each law's quadratics start, and where the last one's end; shape (laws + 1,)."""
    low: Floats
    """θ₀, in currency."""
    high: Floats
    """θ₁ > θ₀, in currency."""
    low_acceptance: Floats
    """q₀."""
    high_acceptance: Floats
    """q₁ ≥ q₀."""
    share: Floats
    """q₁ − q₀ > 0, to its own last digits."""
    low_cost: Floats
    """J at the low end, in currency."""
    rises: NDArray[np.bool_]
    """Whether C goes on from the quadratic before without a jump, and J does not fall there."""

    @property
    def count(self) -> int:
        """The number of laws."""
        return self.start.size - 1

    def high_cost(self, k: Indices) -> Floats:
        """Return J at the high ends of the quadratics k, in currency."""
        high = self.high[k]
        return high + (self.high_acceptance[k] / self.share[k]) * (high - self.low[k])

    def threshold(self, k: Indices, sigma: Floats) -> Floats:
        """Return the threshold at which J = σ, clipped to the quadratics k."""
        low = self.low[k]
        with np.errstate(invalid="ignore"):
            theta = low + 0.5 * (sigma - self.low_cost[k])
        return np.clip(theta, low, self.high[k])

    def acceptance(self, k: Indices, theta: Floats) -> Floats:
        """Return F at thresholds on the quadratics k.

        Above a quadratic it is that of its high end.
        """
        low, high = self.low[k], self.high[k]
        inner = self.low_acceptance[k] + self.share[k] * ((theta - low) / (high - low))
        return np.where(theta >= high, self.high_acceptance[k], inner)


@dataclass(frozen=True, eq=False)
class Hulls:
    """The convex hulls of the cost curves of some laws."""

    pieces: FlatPieces
    """The flat pieces; `owner` is the law."""
    segments: HullSegments
    """Flat pieces and what is left of quadratics between them; `owner` is the law."""
    from_price: Floats
    """For each quadratic the least price v at which the answer lies on it or beyond, not falling
    within a law; −∞ for the first; shape (quadratics,)."""


def quadratic_hulls(quadratics: QuadraticPieces) -> Hulls:
    """Build the convex hulls of many cost curves, all laws at once.

    Parameters
    ----------
    quadratics
        The curves; every law has a quadratic.

    Returns
    -------
    Hulls
        Each end and slope to a few units in the last place, as far as the tangent is determined
        that well.
    """
    found = [
        _block(quadratics, np.arange(first, min(first + BLOCK, quadratics.count)))
        for first in range(0, quadratics.count, BLOCK)
    ]
    pieces = FlatPieces(*_join([columns for columns, _, _ in found]))
    curved = _join([columns for _, columns, _ in found])
    straight = HullSegments.straight(pieces)
    columns = [
        np.concatenate([getattr(straight, name), column])
        for name, column in zip(("owner", "width", "slope", "curvature"), curved, strict=True)
    ]
    order = np.lexsort((columns[2], columns[0]))
    segments = HullSegments(*(column[order] for column in columns))
    return Hulls(pieces, segments, np.concatenate([price for _, _, price in found]))


def _join(blocks: Sequence[tuple[NDArray[np.generic], ...]]) -> list[Any]:
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _block(
    quadratics: QuadraticPieces, laws: Indices
) -> tuple[tuple[NDArray[np.generic], ...], tuple[NDArray[np.generic], ...], Floats]:
    """Return flat pieces, curved segments and `from_price` of some laws."""
    first, counts = quadratics.start[laws], np.diff(quadratics.start)[laws]
    deepest, every = int(counts.max()), np.arange(laws.size)
    stack = np.zeros((deepest, laws.size), dtype=np.intp)  # quadratics on the hull, by law
    tangent = np.full((deepest, laws.size), -np.inf)  # the slope of the tangent that leads to each
    height = np.ones(laws.size, dtype=np.intp)
    stack[0] = first
    for step in range(1, deepest):
        quadratic = first + step
        left = every[counts > step]
        left = left[
            quadratics.high_acceptance[quadratic[left]] > quadratics.low_acceptance[quadratic[left]]
        ]  # else too little mass for a double
        while left.size:
            top = stack[height[left] - 1, left]
            sigma = _tangent(quadratics, top, quadratic[left])
            below = (height[left] > 1) & (sigma <= tangent[height[left] - 1, left])
            done = left[~below]
            stack[height[done], done], tangent[height[done], done] = quadratic[done], sigma[~below]
            height[done] += 1
            left = left[below]
            height[left] -= 1
    deep = np.arange(1, deepest)[:, None] < height
    law, place = np.nonzero(deep.T)
    place += 1
    before, after, slope = stack[place - 1, law], stack[place, law], tangent[place, law]
    low, high = quadratics.threshold(before, slope), quadratics.threshold(after, slope)
    low_q, high_q = quadratics.acceptance(before, low), quadratics.acceptance(after, high)
    flat = (high_q > low_q) & (high - low > NARROW * np.spacing(high))
    columns = (laws[law], low, high, low_q, high_q, slope)
    pieces = tuple(column[flat] for column in columns)
    return (
        pieces,
        _curved_segments(quadratics, laws, stack, tangent, height),
        _from_price(first, counts, stack, tangent, height),
    )


def _curved_segments(
    quadratics: QuadraticPieces, laws: Indices, stack: Indices, tangent: Floats, height: Indices
) -> tuple[NDArray[np.generic], ...]:
    """Return what the tangents leave of the quadratics on the hull.

    Law, width, slope at the low end, curvature.
    """
    law, place = np.nonzero((np.arange(stack.shape[0])[:, None] < height).T)
    k, following = stack[place, law], np.vstack([tangent[1:], np.full((1, laws.size), np.inf)])
    last = place == height[law] - 1
    low = quadratics.threshold(k, tangent[place, law])
    high = quadratics.threshold(k, np.where(last, np.inf, following[place, law]))
    width = quadratics.acceptance(k, high) - quadratics.acceptance(k, low)
    slope = low + (low - quadratics.low[k]) + (quadratics.low_cost[k] - quadratics.low[k])
    columns = (laws[law], width, slope, (quadratics.high[k] - quadratics.low[k]) / quadratics.share[k])
    return tuple(column[width > 0] for column in columns)


def _from_price(first: Indices, counts: Indices, stack: Indices, tangent: Floats, height: Indices) -> Floats:
    """Return, per quadratic, the slope of the tangent to the next on the hull."""
    price = np.full(int(counts.sum()), np.inf)
    law, place = np.nonzero((np.arange(stack.shape[0])[:, None] < height).T)
    at = stack[place, law] - first[0]
    price[at] = tangent[place, law]
    # a quadratic that was dropped counts as one with the slope of the next: the running minimum
    # from the right, within a law
    table = np.full((int(counts.max()), counts.size), np.inf)
    row = np.arange(price.size) - np.repeat(np.cumsum(counts) - counts, counts)
    column = np.repeat(np.arange(counts.size), counts)
    table[row, column] = price
    table = np.minimum.accumulate(table[::-1], axis=0)[::-1]
    return np.asarray(table[row, column])


def _tangent(quadratics: QuadraticPieces, one: Indices, two: Indices) -> Floats:
    """Return the slope of the common tangent of pairs, `one` left of `two`."""
    corners = (two == one + 1) & quadratics.rises[two]
    bottoms, tops = ([of(k) for k in (one, two)] for of in (lambda k: quadratics.low_cost[k], quadratics.high_cost))
    marks = np.sort(np.array(bottoms + tops), axis=0)

    def gap(sigma: Floats) -> tuple[Floats, Floats]:
        values = []
        for k in (one, two):
            theta = quadratics.threshold(k, sigma)
            q = quadratics.acceptance(k, theta)
            values.append((q, q * (sigma - theta)))
        return values[1][1] - values[0][1], values[1][0] - values[0][0]

    heights = np.array([gap(mark)[0] for mark in marks])
    place = np.maximum(np.sum(heights < 0, axis=0) - 1, 0)[None]  # the last mark below the root, or the first of all
    start, height = (np.take_along_axis(table, place, axis=0)[0] for table in (marks, heights))
    end = np.take_along_axis(marks, np.minimum(place + 1, 3), axis=0)[0]
    slope, middle = gap(start)[1], 0.5 * (start + end)
    bend = np.zeros_like(start)  # g″/2 between the two marks
    for k, bottom, top, sign in zip((one, two), bottoms, tops, (-1.0, 1.0), strict=True):
        inside = (middle > bottom) & (middle < top)
        bend += np.where(inside, sign * 0.25 * quadratics.share[k] / (quadratics.high[k] - quadratics.low[k]), 0.0)
    inner = (height < 0) & (end > start)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(slope * slope - 4.0 * bend * height, 0.0))
        sigma = np.where(inner, np.clip(start - 2.0 * height / (slope + root), start, end), start - height / slope)
        for _ in range(CORRECTIONS):
            height, slope = gap(sigma)
            step = 2.0 * height / (slope + np.sqrt(np.maximum(slope * slope - 4.0 * bend * height, 0.0)))
            sigma = np.where(inner & np.isfinite(step), np.clip(sigma - step, start, end), sigma)
    return np.where(corners, quadratics.low_cost[two], sigma)
