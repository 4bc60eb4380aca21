"""The terms of owners of a smooth law that is not proved regular: tops over arcs on which J rises, and over what lies between.

No hull of a cost curve is built: the maximum runs over the whole support, so it is that over the hull, lotteries included. On an arc the line that touches
h(q) = e q − p C(q) at one threshold bounds it as for a regular law; between arcs the ends of cells do (see `arcs`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric.balls import Ball, rounded_down, rounded_up
from smqopt.valuation.base import Valuation
from smqopt.valuation.rising_stretch import threshold_on_stretch
from smqopt.verification.proof.arcs import SLIGHT, Cover, Shape
from smqopt.verification.proof.ball_laws import BallLaw, OwnerBalls
from smqopt.verification.proof.curve import Floats, Numbers, Rows
from smqopt.verification.proof.smooth_pieces import PieceLaw, SmoothPiece

__all__ = ["ArcCurve"]

PRUNED = 2.0**-40
"""What is below the largest value seen by more than this share of |e| + pθ̄ is not looked at again: that is far more than rounding."""
UNDERFLOW = 2.0**-1000
"""And by more than this, in units of e."""
TIGHT = 2.0**-50
"""A bound that exceeds the value at its threshold by less than this share of it needs no second line."""
STEPS = 40
"""The second line touches at most so many doublings of a spacing away."""
NEAR = 8
"""Spacings of doubles within which a threshold is touched at which F is known already."""
BLOCK = 1 << 12
"""Rows that are compared with all cells at a time."""


@dataclass(frozen=True, eq=False)
class _Arc:
    """A part of the support on which h is concave in acceptance."""

    piece: SmoothPiece
    low: float
    high: float
    at_low: Ball
    """F at the ends, from within."""
    at_high: Ball


@dataclass(frozen=True, eq=False)
class _Point:
    """h ≤ (acceptance)(e − p · threshold), or 0, on some cell."""

    acceptance: Ball
    threshold: float


@dataclass(frozen=True, eq=False)
class _Bounds:
    """What a cover says of one owner, in balls and in doubles that are rounded against her."""

    arcs: tuple[_Arc, ...]
    points: tuple[_Point, ...]
    first: NDArray[np.intp]
    """Of each arc, its first cell."""
    above: Floats
    """For each cell of an arc, at least F at its upper end."""
    below: Floats
    """And its lower end, in currency."""
    sure: Floats
    """At most F at some thresholds,"""
    seen: Floats
    """and these thresholds."""
    point_above: Floats
    """At least the acceptance of each point,"""
    point_below: Floats
    """and its threshold."""
    low: float
    high: float
    """The ends of the support."""


@dataclass(frozen=True, eq=False)
class ArcCurve:
    """Owners of a smooth law, whatever its cost curve, in balls of the precision at which the record was made."""

    law: Valuation
    """In floating point: it is asked where to touch, which any answer will do for."""
    balls: BallLaw
    """F of its owners."""
    pieces: PieceLaw
    cover: Callable[[int], Cover]
    """Gives the cover of an owner's support, by her place in the law."""
    _owners: dict[int, _Bounds] = field(default_factory=dict)
    _laws: dict[int, OwnerBalls] = field(default_factory=dict)

    def acceptances(self, place: NDArray[np.intp], threshold: Floats, low: Floats, high: Floats) -> list[Ball]:
        """Give F at the thresholds."""
        columns = (column.tolist() for column in (place, threshold, low, high))
        return [self._law(k).acceptance(theta, *ends) for k, theta, *ends in zip(*columns, strict=True)]

    def tops(self, rows: Rows, known: Sequence[Ball | None]) -> Ball:
        """Bound Σ m max_q {e q − p C(q)} from above."""
        each = self.each(rows.place, rows.requirement, rows.price, rows.touch, known)
        return sum((arb(m) * top for m, top in zip(rows.count.tolist(), each, strict=True)), arb(0))

    def _law(self, place: int) -> OwnerBalls:
        if place not in self._laws:
            self._laws[place] = self.balls(place)
        return self._laws[place]

    def each(
        self, place: NDArray[np.intp], requirement: Numbers, price: Numbers, touch: Floats, known: Sequence[Ball | None]
    ) -> list[Ball]:
        """Give balls whose upper ends are at least max_q {e q − p C(q)}, one a row.

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
            tops = self._of_owner(owner, e, p, touch[rows].tolist(), [known[row] for row in rows.tolist()])
            for row, top in zip(rows.tolist(), tops, strict=True):
                found[row] = top
        return found

    def _of_owner(
        self, owner: int, e: list[Ball], p: list[Ball], touch: list[float], known: list[Ball | None]
    ) -> list[Ball]:
        bounds = self._bounds(owner)
        near_arcs, near_points = _candidates(bounds, e, p)
        thresholds = self._thresholds(owner, bounds, near_arcs, e, p)
        return [
            _top(bounds, own_e, own_p, list(zip(arcs, at, strict=True)), points, (touched, F))
            for own_e, own_p, arcs, at, points, touched, F in zip(
                e, p, near_arcs, thresholds, near_points, touch, known, strict=True
            )
        ]

    def _bounds(self, owner: int) -> _Bounds:
        if owner not in self._owners:
            self._owners[owner] = _bounds(self.cover(owner), self.pieces(owner))
        return self._owners[owner]

    def _thresholds(
        self, owner: int, bounds: _Bounds, near: list[list[int]], e: list[Ball], p: list[Ball]
    ) -> list[list[float]]:
        """Give, for each row and each of its arcs, about where J is e/p on it."""
        rows = np.array([row for row, arcs in enumerate(near) for _ in arcs], dtype=np.intp)
        arcs = [bounds.arcs[k] for each in near for k in each]
        if not arcs:
            return [[] for _ in near]
        required, price = (np.array([float(x.mid()) for x in column])[rows] for column in (e, p))
        low, high = (np.array([getattr(arc, end) for arc in arcs]) for end in ("low", "high"))
        # at an edge inside the support, J in floating point may be what it is beyond
        from_edge = np.array([arc.low == arc.piece.low > bounds.low for arc in arcs])
        to_edge = np.array([arc.high == arc.piece.high < bounds.high for arc in arcs])
        inner_low = np.where(from_edge, np.nextafter(low, high), low)
        inner_high = np.where(to_edge, np.nextafter(high, low), high)
        law = self.law if self.law.size is None else self.law.take(np.full(rows.size, owner, dtype=np.intp))
        with np.errstate(all="ignore"):
            at = threshold_on_stretch(law, required / price, inner_low, inner_high)
        at = np.where(at <= inner_low, low, np.where(at >= inner_high, high, at))
        found = iter(np.where((at >= low) & (at <= high), at, low + (high - low) / 2).tolist())
        return [[next(found) for _ in each] for each in near]


def _bounds(cover: Cover, pieces: Sequence[SmoothPiece]) -> _Bounds:
    known: dict[tuple[int, float], Ball] = {}

    def F(number: int, theta: float) -> Ball:
        if (number, theta) not in known:
            known[number, theta] = pieces[number].cdf(arb(theta))
        return known[number, theta]

    arcs: list[_Arc] = []
    first: list[int] = []
    rising: list[tuple[float, float]] = []
    for run in cover.runs(Shape.CONVEX):
        number, low, high = run[0].piece, run[0].low, run[-1].high
        arcs.append(_Arc(pieces[number], low, high, F(number, low), F(number, high)))
        first.append(len(rising))
        rising += [(rounded_up(F(number, cell.high)), cell.low) for cell in run]
    points: list[_Point] = []
    for run in cover.runs(Shape.CONCAVE):
        number, low, high = run[0].piece, run[0].low, run[-1].high
        points += [_Point(F(number, low), low), _Point(F(number, high), high)]
    for cell in cover.cells:
        at_low, at_high = F(cell.piece, cell.low), F(cell.piece, cell.high)
        if cell.shape is Shape.ALMOST_CONCAVE:
            more = 1 + arb(SLIGHT)
            points += [_Point(more * at_low, cell.low), _Point(more * at_high, cell.high)]
        if cell.shape is Shape.UNKNOWN:
            points.append(_Point(at_high, cell.low))
    for number, (before, after) in enumerate(pairwise(pieces), start=1):
        if before.high < after.low:  # an edge between two doubles
            points.append(_Point(F(number, after.low), before.high))
    highest = pieces[-1].high
    points.append(_Point(F(len(pieces) - 1, highest).union(arb(1)), highest))
    above, below = zip(*rising, strict=True) if rising else ((), ())
    return _Bounds(
        tuple(arcs),
        tuple(points),
        np.array(first, dtype=np.intp),
        np.array(above, dtype=np.float64),
        np.array(below, dtype=np.float64),
        np.array([max(rounded_down(q), 0.0) for q in known.values()]),
        np.array([theta for _, theta in known]),
        np.array([rounded_up(point.acceptance) for point in points]),
        np.array([point.threshold for point in points]),
        pieces[0].low,
        highest,
    )


def _candidates(bounds: _Bounds, e: list[Ball], p: list[Ball]) -> tuple[list[list[int]], list[list[int]]]:
    """Give, for each row, the arcs and the points at which the top may lie; the others are below by more than rounding.

    In doubles, what is compared is off by less than 32 units in the last place of |e| + pθ̄, by a few underflows, and by what the balls leave open.
    """
    arcs: list[list[int]] = []
    points: list[list[int]] = []
    with np.errstate(all="ignore"):
        middle_e, middle_p = (np.array([float(x.mid()) for x in column]) for column in (e, p))
        open_e, open_p = (np.array([float(x.rad()) for x in column]) for column in (e, p))
        size = np.abs(middle_e) + middle_p * bounds.high
        margin = PRUNED * size + 4 * (open_e + open_p * bounds.high) + UNDERFLOW
        for start in range(0, len(e), BLOCK):
            block = slice(start, start + BLOCK)
            own_e, own_p = middle_e[block, None], middle_p[block, None]
            least = np.max(bounds.sure * (own_e - own_p * bounds.seen), axis=1, keepdims=True)
            least = np.fmax(least, 0.0) - margin[block, None]
            rising = bounds.above * (own_e - own_p * bounds.below)
            tops = np.maximum.reduceat(rising, bounds.first, axis=1) if bounds.first.size else rising[:, :0]
            ends = bounds.point_above * (own_e - own_p * bounds.point_below)
            arcs += [np.flatnonzero(row).tolist() for row in ~(tops < least)]
            points += [np.flatnonzero(row).tolist() for row in ~(ends < least)]
    return arcs, points


def _top(
    bounds: _Bounds,
    e: Ball,
    p: Ball,
    near_arcs: list[tuple[int, float]],
    near_points: list[int],
    known: tuple[float, Ball | None],
) -> Ball:
    """Bound max_q {e q − p C(q)} from above."""
    from_low = e - p * bounds.low
    if from_low <= 0:
        return arb(0)
    top = arb(0)
    for k, at in near_arcs:
        top = top.max(_on_arc(bounds.arcs[k], e, p, at, known))
    for k in near_points:
        point = bounds.points[k]
        top = top.max(point.acceptance * (e - p * point.threshold).max(arb(0)))
    from_low = from_low.max(arb(0))
    return top.min(from_low) if top.is_finite() else from_low


def _on_arc(arc: _Arc, e: Ball, p: Ball, at: float, known: tuple[float, Ball | None]) -> Ball:
    """Bound the top over an arc by the line at a threshold, or by two."""
    touch, F = known
    q = F if abs(touch - at) <= NEAR * math.ulp(at) and arc.low <= touch <= arc.high else None
    at = at if q is None else touch
    q, value, slope = _line(arc, e, p, at, q)
    if not slope.is_finite():  # at an end f may vanish, or be infinite
        at = math.nextafter(at, arc.low if at > arc.low else arc.high)
        q, value, slope = _line(arc, e, p, at, None)
    line = value + (slope * (arc.at_high - q)).max(slope * (arc.at_low - q))
    if line - value <= TIGHT * value:
        return line
    crude = arc.at_high * (e - p * arc.low).max(arb(0))
    if not line.is_finite():
        return crude
    rising = bool(slope > 0)
    if not rising and not slope <= 0:
        return line.min(crude)
    step = math.ulp(at)
    for _ in range(STEPS):
        other = at + step if rising else at - step
        step *= 2
        if not arc.low < other < arc.high:
            break
        beyond, _value, second = _line(arc, e, p, other, None)
        if second <= 0 if rising else second >= 0:
            return line.min(value + slope * (beyond - q))
    return line.min(crude)


def _line(arc: _Arc, e: Ball, p: Ball, theta: float, q: Ball | None) -> tuple[Ball, Ball, Ball]:
    """Give acceptance, h and its slope e − pJ at a threshold of an arc."""
    t = arb(theta)
    if q is None:
        q = arc.at_low if theta == arc.low else arc.at_high if theta == arc.high else arc.piece.cdf(t)
    return q, q * (e - p * t), e - p * (t + q / arc.piece.pdf(t))
