"""Terms of owners of a smooth law that is not proved regular.

No hull of a cost curve is built: the maximum runs over the whole support, so it is that over the
hull, lotteries included. On an interval the line that touches h(q) = e q − p C(q) at one threshold
bounds it as for a regular law; between intervals the ends of cells do (see `intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric import Ball, Floats
from smqopt.valuation import BallLaw, OwnerBalls, PieceLaw, Valuation, threshold_on_stretch
from smqopt.verification.enclosures._cover_bounds import CoverBounds, MonotoneInterval, candidates, cover_bounds
from smqopt.verification.enclosures._curve import Numbers, Rows
from smqopt.verification.enclosures._monotone_cover import Cover

TIGHT = 2.0**-50
"""A bound that exceeds the value at its threshold by less than this share of it needs no second
line."""
STEPS = 40
"""The second line touches at most so many doublings of a spacing away."""
NEAR = 8
"""Spacings of doubles within which a threshold is touched at which F is known already."""


@dataclass(frozen=True, eq=False)
class CoverCurve:
    """Owners of a smooth law, whatever its cost curve, in balls."""

    law: Valuation
    """In floating point: it is asked where to touch, which any answer will do for."""
    balls: BallLaw
    """F of its owners."""
    pieces: PieceLaw
    cover: Callable[[int], Cover]
    """Gives the cover of an owner's support, by her place in the law."""
    _owners: dict[int, CoverBounds] = field(default_factory=dict)
    _laws: dict[int, OwnerBalls] = field(default_factory=dict)

    def acceptances(self, place: NDArray[np.intp], threshold: Floats, low: Floats, high: Floats) -> list[Ball]:
        """Return F at the thresholds."""
        columns = (column.tolist() for column in (place, threshold, low, high))
        return [self._law(k).acceptance(theta, *ends) for k, theta, *ends in zip(*columns, strict=True)]

    def tops(self, rows: Rows, known: Sequence[Ball | None]) -> Ball:
        """Bound Σ m max_q {e q − p C(q)} from above."""
        each = self.each(rows.place, rows.requirement, rows.price, rows.tangent, known)
        return sum((arb(m) * top for m, top in zip(rows.count.tolist(), each, strict=True)), arb(0))

    def _law(self, place: int) -> OwnerBalls:
        if place not in self._laws:
            self._laws[place] = self.balls(place)
        return self._laws[place]

    def each(
        self,
        place: NDArray[np.intp],
        requirement: Numbers,
        price: Numbers,
        tangent: Floats,
        known: Sequence[Ball | None],
    ) -> list[Ball]:
        """Return balls whose upper ends are at least max_q {e q − p C(q)}, one a row.

        Parameters
        ----------
        place
            Which owner of the law, from 0.
        requirement, price
            e of any sign, in units of what is bought, and p ≥ 0.
        touch
            Thresholds at which F may be known.
        known
            F there, or None.
        """
        found: list[Ball] = [None] * place.size
        for owner in np.unique(place).tolist():
            rows = np.flatnonzero(place == owner)
            e, p = ([arb(x) for x in column[rows].tolist()] for column in (requirement, price))
            tops = self._of_owner(owner, e, p, tangent[rows].tolist(), [known[row] for row in rows.tolist()])
            for row, top in zip(rows.tolist(), tops, strict=True):
                found[row] = top
        return found

    def _of_owner(
        self, owner: int, e: list[Ball], p: list[Ball], tangent: list[float], known: list[Ball | None]
    ) -> list[Ball]:
        bounds = self._bounds(owner)
        near_intervals, near_points = candidates(bounds, e, p)
        thresholds = self._thresholds(owner, bounds, near_intervals, e, p)
        return [
            _top(bounds, own_e, own_p, list(zip(intervals, at, strict=True)), points, (tangent_points, F))
            for own_e, own_p, intervals, at, points, tangent_points, F in zip(
                e, p, near_intervals, thresholds, near_points, tangent, known, strict=True
            )
        ]

    def _bounds(self, owner: int) -> CoverBounds:
        if owner not in self._owners:
            self._owners[owner] = cover_bounds(self.cover(owner), self.pieces(owner))
        return self._owners[owner]

    def _thresholds(
        self, owner: int, bounds: CoverBounds, near: list[list[int]], e: list[Ball], p: list[Ball]
    ) -> list[list[float]]:
        """Give, for each row and each of its intervals, about where J is e/p on it."""
        rows = np.array([row for row, intervals in enumerate(near) for _ in intervals], dtype=np.intp)
        intervals = [bounds.intervals[k] for each in near for k in each]
        if not intervals:
            return [[] for _ in near]
        required, price = (np.array([float(x.mid()) for x in column])[rows] for column in (e, p))
        low, high = (np.array([getattr(interval, end) for interval in intervals]) for end in ("low", "high"))
        # at an edge inside the support, J in floating point may be what it is beyond
        from_edge = np.array([interval.low == interval.piece.low > bounds.low for interval in intervals])
        to_edge = np.array([interval.high == interval.piece.high < bounds.high for interval in intervals])
        inner_low = np.where(from_edge, np.nextafter(low, high), low)
        inner_high = np.where(to_edge, np.nextafter(high, low), high)
        law = self.law if self.law.size is None else self.law.take(np.full(rows.size, owner, dtype=np.intp))
        with np.errstate(all="ignore"):
            at = threshold_on_stretch(law, required / price, inner_low, inner_high)
        at = np.where(at <= inner_low, low, np.where(at >= inner_high, high, at))
        found = iter(np.where((at >= low) & (at <= high), at, low + (high - low) / 2).tolist())
        return [[next(found) for _ in each] for each in near]


def _top(
    bounds: CoverBounds,
    e: Ball,
    p: Ball,
    near_intervals: list[tuple[int, float]],
    near_points: list[int],
    known: tuple[float, Ball | None],
) -> Ball:
    """Bound max_q {e q − p C(q)} from above."""
    from_low = e - p * bounds.low
    if from_low <= 0:
        return arb(0)
    top = arb(0)
    for k, at in near_intervals:
        top = top.max(_top_on_interval(bounds.intervals[k], e, p, at, known))
    for k in near_points:
        point = bounds.points[k]
        top = top.max(point.acceptance * (e - p * point.threshold).max(arb(0)))
    from_low = from_low.max(arb(0))
    return top.min(from_low) if top.is_finite() else from_low


def _top_on_interval(interval: MonotoneInterval, e: Ball, p: Ball, at: float, known: tuple[float, Ball | None]) -> Ball:
    """Bound the top over an interval by the line at a threshold, or by two."""
    tangent, F = known
    q = F if abs(tangent - at) <= NEAR * math.ulp(at) and interval.low <= tangent <= interval.high else None
    at = at if q is None else tangent
    q, value, slope = _line(interval, e, p, at, q)
    if not slope.is_finite():  # at an end f may vanish, or be infinite
        at = math.nextafter(at, interval.low if at > interval.low else interval.high)
        q, value, slope = _line(interval, e, p, at, None)
    line = value + (slope * (interval.at_high - q)).max(slope * (interval.at_low - q))
    if line - value <= TIGHT * value:
        return line
    crude = interval.at_high * (e - p * interval.low).max(arb(0))
    if not line.is_finite():
        return crude
    rising = bool(slope > 0)
    if not rising and not slope <= 0:
        return line.min(crude)
    step = math.ulp(at)
    for _ in range(STEPS):
        other = at + step if rising else at - step
        step *= 2
        if not interval.low < other < interval.high:
            break
        beyond, _value, second = _line(interval, e, p, other, None)
        if second <= 0 if rising else second >= 0:
            return line.min(value + slope * (beyond - q))
    return line.min(crude)


def _line(interval: MonotoneInterval, e: Ball, p: Ball, theta: float, q: Ball | None) -> tuple[Ball, Ball, Ball]:
    """Return acceptance, h and its slope e − pJ at a threshold of an interval."""
    t = arb(theta)
    if q is None:
        q = (
            interval.at_low
            if theta == interval.low
            else interval.at_high
            if theta == interval.high
            else interval.piece.cdf(t)
        )
    return q, q * (e - p * t), e - p * (t + q / interval.piece.pdf(t))
