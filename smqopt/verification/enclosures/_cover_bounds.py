"""What a cover says of one owner: monotone intervals, and points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric import Ball, Floats, rounded_down, rounded_up
from smqopt.valuation import SmoothPiece
from smqopt.verification.enclosures._monotone_cover import SLIGHT, Cover, Shape

PRUNED = 2.0**-40
"""What is below the largest value seen by more than this share of |e| + pθ̄ is not looked at again:
that is far more than rounding."""
UNDERFLOW = 2.0**-1000
"""And by more than this, in units of e."""
BLOCK = 1 << 12
"""Rows that are compared with all cells at a time."""


@dataclass(frozen=True, eq=False)
class MonotoneInterval:
    """A part of the support on which h is concave in acceptance."""

    piece: SmoothPiece
    low: float
    high: float
    at_low: Ball
    """F at the ends, from within."""
    at_high: Ball


@dataclass(frozen=True, eq=False)
class CoverPoint:
    """h ≤ (acceptance)(e − p · threshold), or 0, on some cell."""

    acceptance: Ball
    threshold: float


@dataclass(frozen=True, eq=False)
class CoverBounds:
    """What a cover says of one owner, in balls and in doubles above."""

    intervals: tuple[MonotoneInterval, ...]
    points: tuple[CoverPoint, ...]
    first: NDArray[np.intp]
    """Of each interval, its first cell."""
    above: Floats
    """For each cell of an interval, at least F at its upper end."""
    below: Floats
    """And its lower end, in currency."""
    sure: Floats
    """At most F at some thresholds,"""
    known_at: Floats
    """and these thresholds."""
    point_above: Floats
    """At least the acceptance of each point,"""
    point_below: Floats
    """and its threshold."""
    low: float
    high: float
    """The ends of the support."""


def cover_bounds(cover: Cover, pieces: Sequence[SmoothPiece]) -> CoverBounds:
    """Work out F where a cover needs it, at the precision of the context.

    Parameters
    ----------
    cover
        Of the owner's support.
    pieces
        Her law's smooth pieces.
    """
    known: dict[tuple[int, float], Ball] = {}

    def F(number: int, theta: float) -> Ball:
        if (number, theta) not in known:
            known[number, theta] = pieces[number].cdf(arb(theta))
        return known[number, theta]

    intervals: list[MonotoneInterval] = []
    first: list[int] = []
    rising: list[tuple[float, float]] = []
    for run in cover.runs(Shape.CONVEX):
        number, low, high = run[0].piece, run[0].low, run[-1].high
        intervals.append(MonotoneInterval(pieces[number], low, high, F(number, low), F(number, high)))
        first.append(len(rising))
        rising += [(rounded_up(F(number, cell.high)), cell.low) for cell in run]
    points: list[CoverPoint] = []
    for run in cover.runs(Shape.CONCAVE):
        number, low, high = run[0].piece, run[0].low, run[-1].high
        points += [CoverPoint(F(number, low), low), CoverPoint(F(number, high), high)]
    for cell in cover.cells:
        at_low, at_high = F(cell.piece, cell.low), F(cell.piece, cell.high)
        if cell.shape is Shape.ALMOST_CONCAVE:
            more = 1 + arb(SLIGHT)
            points += [CoverPoint(more * at_low, cell.low), CoverPoint(more * at_high, cell.high)]
        if cell.shape is Shape.UNKNOWN:
            points.append(CoverPoint(at_high, cell.low))
    for number, (before, after) in enumerate(pairwise(pieces), start=1):
        if before.high < after.low:  # an edge between two doubles
            points.append(CoverPoint(F(number, after.low), before.high))
    highest = pieces[-1].high
    points.append(CoverPoint(F(len(pieces) - 1, highest).max(arb(1)), highest))  # an atom may be there
    above, below = zip(*rising, strict=True) if rising else ((), ())
    return CoverBounds(
        tuple(intervals),
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


def candidates(bounds: CoverBounds, e: list[Ball], p: list[Ball]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the intervals and points where each row's top may lie.

    In doubles, what is compared is off by less than 32 units in the last place of |e| + pθ̄, by a
    few underflows, and by what the balls leave open.
    """
    intervals: list[list[int]] = []
    points: list[list[int]] = []
    with np.errstate(all="ignore"):
        middle_e, middle_p = (np.array([float(x.mid()) for x in column]) for column in (e, p))
        open_e, open_p = (np.array([float(x.rad()) for x in column]) for column in (e, p))
        size = np.abs(middle_e) + middle_p * bounds.high
        margin = PRUNED * size + 4 * (open_e + open_p * bounds.high) + UNDERFLOW
        for start in range(0, len(e), BLOCK):
            block = slice(start, start + BLOCK)
            own_e, own_p = middle_e[block, None], middle_p[block, None]
            least = np.max(bounds.sure * (own_e - own_p * bounds.known_at), axis=1, keepdims=True)
            least = np.fmax(least, 0.0) - margin[block, None]
            rising = bounds.above * (own_e - own_p * bounds.below)
            tops = np.maximum.reduceat(rising, bounds.first, axis=1) if bounds.first.size else rising[:, :0]
            ends = bounds.point_above * (own_e - own_p * bounds.point_below)
            intervals += [np.flatnonzero(row).tolist() for row in ~(tops < least)]
            points += [np.flatnonzero(row).tolist() for row in ~(ends < least)]
    return intervals, points
