"""Supports cut, in balls, into intervals on which J rises and the rest.

Let G = 1/F. Where F > 0, G″ = N/F³ with N = 2f² − F f′, and J′ = N/f²: J rises exactly where G is
convex. What an owner's Lagrangian is worth at a threshold, H(θ) = F(θ)(e − pθ) = (e − pθ)/G, can
then be bounded without the hull of a cost curve:

- on an interval where G is convex, H is concave in acceptance, with slope e − pJ, so that any line
  that touches it there lies above it there;
- where G is concave it lies above its chords, and over a chord H is a ratio of linear functions,
  hence monotone: H is at most the larger of its ends, or 0;
- where G″ ≤ M on a cell of width w, G is at least 1 − M w² F/8 of its chord, which is nearly as
  good;
- on any cell [a, b], H ≤ F(b)(e − pa), or 0.

Cells are halved until one of these holds for certain, and the last two cost less than rounding.
Nothing is asked of f but that F does not fall.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

import numpy as np
from flint import arb, arb_series

from smqopt.numeric import Ball, precision, work_limit
from smqopt.valuation import ORDER, PieceLaw, SmoothPiece, Valuation

BITS = 192
"""Precision of the balls that decide the shape of a cell; what they decide is true at any."""
SLIGHT = 2.0**-60
"""The share of its ends by which H may exceed them on a cell where G is concave up to rounding."""
FAINT = 2.0**-100
"""Cells on which F is at most this are not cut further: no offer there is worth anything beside
rounding."""
NEAREST = 2.0**-200
"""Nor are cells so near the low end, in widths of the support."""
STEP = 2.0**-6
"""F rises by at most this on a cell of an interval, so that most intervals can be told not to
matter from F alone."""
MOST_CELLS = 5_000
"""Cells are halved up to here; what is left open then is left."""


class Shape(Enum):
    """What is proved of G = 1/F on a cell."""

    CONVEX = "J rises"
    CONCAVE = "J falls, or F is constant"
    ALMOST_CONCAVE = "a chord up to rounding"
    UNKNOWN = "nothing"


@dataclass(frozen=True)
class Cell:
    """A part of the support between two doubles, on one smooth piece."""

    piece: int
    low: float
    high: float
    shape: Shape


@dataclass(frozen=True)
class Cover:
    """Cells from the low end of the support to the high one, in their order."""

    cells: tuple[Cell, ...]
    complete: bool
    """Whether cells of unknown shape are all smaller than rounding."""

    def runs(self, shape: Shape) -> tuple[tuple[Cell, ...], ...]:
        """Return the longest runs of neighbouring cells of one shape, each on one piece."""
        runs = groupby(self.cells, key=lambda cell: (cell.piece, cell.shape))
        return tuple(tuple(cells) for (_, found), cells in runs if found is shape)

    @property
    def rule(self) -> str:
        """What was proved, in a line."""
        count = len(self.runs(Shape.CONVEX))
        intervals = "one interval" if count == 1 else f"{count} intervals"
        return f"J rises on {intervals}, proved in balls; elsewhere the cost curve is bounded cell by cell"


def cover(pieces: Sequence[SmoothPiece]) -> Cover:
    """Cut a support into cells of proved shape.

    Parameters
    ----------
    pieces
        The smooth pieces of the law, in their order, made at a precision of `BITS`.
    """
    with precision(BITS):
        search = _Search(pieces[0].low, NEAREST * (pieces[-1].high - pieces[0].low))
        cells = [cell for number, piece in enumerate(pieces) for cell in search.cells(number, piece)]
        return Cover(tuple(cells), search.complete)


def covers(law: Valuation, pieces: PieceLaw) -> Callable[[int], Cover]:
    """Return what covers owners' supports, each different one once.

    Parameters
    ----------
    law
        A common law, or one an owner.
    pieces
        Their smooth pieces.
    """
    known = _KNOWN.setdefault(law, {}) if law.size is None else {}

    def of(place: int) -> Cover:
        key = _numbers(law, place)
        if key not in known:
            with precision(BITS), work_limit(0):
                known[key] = cover(pieces(place))
        return known[key]

    return of


_KNOWN: weakref.WeakKeyDictionary[Valuation, dict[Hashable, Cover]] = weakref.WeakKeyDictionary()
"""The covers of common laws; laws do not change."""


def _numbers(law: Valuation, place: int) -> Hashable:
    """Return what tells an owner's law from others."""
    if law.size is None or law.extras():
        return place if law.size is not None else 0
    given = law.arguments.values()
    return tuple(float(value[place]) for value in given if isinstance(value, np.ndarray))


def different_laws(law: Valuation) -> int:
    """Count the supports to be covered; none for a common law."""
    if law.size is None:
        return 0
    given = list(law.arguments.values())
    columns = [column for column in given if isinstance(column, np.ndarray)]
    return law.size if law.extras() else np.unique(np.column_stack(columns), axis=0).shape[0]


class _Search:
    """The halving of cells, with what is left to spend on it."""

    def __init__(self, low: float, nearest: float) -> None:
        self.low, self.nearest = low, nearest
        self.left = MOST_CELLS
        self.complete = True

    def cells(self, number: int, piece: SmoothPiece) -> list[Cell]:
        """Cut one piece."""
        found: list[Cell] = []
        F = {end: piece.cdf(arb(end)) for end in (piece.low, piece.high)}
        open_cells: list[tuple[float, float, Shape]] = [(piece.low, piece.high, Shape.UNKNOWN)]
        while open_cells:
            a, b, shape = open_cells.pop()
            middle = a + (b - a) / 2
            known = shape is not Shape.UNKNOWN
            if not known and not F[b] <= FAINT:
                shape = _shape(piece, a, b, F[a], F[b])
            fine = shape is not Shape.UNKNOWN and (shape is not Shape.CONVEX or F[b] - F[a] <= STEP)
            if fine or not a < middle < b or self._is_slight(b, F[a], F[b]):
                found.append(Cell(number, a, b, shape))
            elif self.left == 0:
                self.complete = self.complete and shape is not Shape.UNKNOWN
                found.append(Cell(number, a, b, shape))
            else:
                self.left -= 1
                F[middle] = piece.cdf(arb(middle))
                open_cells += [(middle, b, shape), (a, middle, shape)]
        return found

    def _is_slight(self, b: float, at_a: Ball, at_b: Ball) -> bool:
        """Return whether a cell may stay as it is, whatever its shape."""
        return bool(at_b <= FAINT) or b - self.low <= self.nearest or bool(at_b - at_a <= SLIGHT * at_a)


def _shape(piece: SmoothPiece, a: float, b: float, at_a: Ball, at_b: Ball) -> Shape:
    """Decide the shape of G on a cell by Taylor's formula at its middle.

    F > 0 inside is needed, or F = 0 at a: for F that a rounded end leaves below 0 nothing is
    claimed.
    """
    if not at_a >= 0:
        return Shape.UNKNOWN
    low, high = arb(a), arb(b)
    on_cell = _bends(piece.taylor(low, high))
    if on_cell[0] <= 0:
        return Shape.CONCAVE
    if on_cell[0] >= 0:
        return Shape.CONVEX
    middle = (low + high) / 2
    half = (high - low) / 2
    largest = on_cell[0]
    whole = arb(0)
    for order, (at_middle, remainder) in enumerate(zip(_bends(piece.taylor(middle, middle)), on_cell, strict=True)):
        bend = whole + remainder * _powers(half, order)
        whole += at_middle * _powers(half, order)
        if bend <= 0:
            return Shape.CONCAVE
        if bend >= 0:
            return Shape.CONVEX
        if bend.is_finite() and not bend >= largest.upper():
            largest = bend
    excess = largest.upper() / at_a**3 * (2 * half) ** 2 * at_b / 8
    return Shape.ALMOST_CONCAVE if excess <= SLIGHT / 2 else Shape.UNKNOWN


def _powers(half: Ball, order: int) -> Ball:
    """Return a ball that holds t^order for all t up to half on either side of 0."""
    largest = half**order
    return arb(1) if order == 0 else largest.union(-largest if order % 2 else arb(0))


def _bends(F: Sequence[Ball]) -> list[Ball]:
    """Return the Taylor coefficients of N = 2f² − F f′ from those of F: two fewer."""
    count = ORDER - 2
    density = [(k + 1) * F[k + 1] for k in range(count + 1)]
    f = arb_series(density[:count], count)
    slope = arb_series([(k + 1) * density[k + 1] for k in range(count)], count)
    bend = f * f * arb_series([2], count) - arb_series(list(F[:count]), count) * slope
    return [bend[k] for k in range(count)]
