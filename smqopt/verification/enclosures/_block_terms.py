"""What blocks add to the weak-duality bound, in balls.

A block is posted one price p for all its rows. For multipliers it adds h(p) = Σ_k (a_k − c_k p)
F_k(p) at most, or nothing for no offer. Prices that may be posted are cut where a law changes its
formula. On a cell of middle m and half-width r, with u = p − m and F(p) = F(m) + F′(m) u + F″(ξ)
u²/2,

    h(p) ≤ h(m) + |h′(m)| r + max(M, 0) r² + |Σ c F″(ξ)/2| r³,

with M = Σ {(a − c m) F″(ξ)/2 − c F′(m)}, where F″(ξ) is a ball that holds all of the cell; and as F
rises, each term is at most the largest product of ends of both factors. Cells are halved until none
may hold more than a trifle above the best value found.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from flint import arb

from smqopt.numeric import Ball, Floats, rounded_up
from smqopt.valuation import SmoothPiece
from smqopt.verification.enclosures._curve import Curve

_NEAR, _NEAR_SCALE = 2.0**-43, 2.0**-50
"""How far the bound of a block may lie above the best value found, relative to it and to Σ |a|."""
_MOST_CELLS, _MOST_FOR_NOTHING = 4_000, 200
"""So many cells of a block are looked at, or fewer to show that no price adds anything; what is
left then bounds as it is."""


@dataclass(frozen=True, eq=False)
class BlockTerm:
    """One row of a block."""

    worth: Ball
    """a, of any sign."""
    cost: Ball
    """c, of any sign."""
    low: float
    high: float
    pieces: tuple[SmoothPiece, ...]
    """Its law from low to high, where prices are no list."""
    curve: Curve
    place: int

    def gain(self, price: float) -> Ball:
        """Return (a − c p) F(p)."""
        if price < self.low:
            return arb(0)
        return (self.worth - self.cost * arb(price)) * self.cdf(price)

    def cdf(self, price: float) -> Ball:
        """Return F at a price from the low end on."""
        if price >= self.high:
            return arb(1)
        at, low, high = (np.array([x]) for x in (price, self.low, self.high))
        return self.curve.acceptances(np.array([self.place]), at, low, high)[0]

    def piece(self, a: float, b: float) -> SmoothPiece | None:
        """Return the formula that holds from a to b, if one does."""
        return next((piece for piece in self.pieces if piece.low <= a and b <= piece.high), None)


def top_of_list(terms: Sequence[BlockTerm], prices: Floats) -> Ball:
    """Return a ball whose upper end is above h at all prices of a list, and above 0."""
    best = arb(0)
    for price in prices.tolist():
        best = best.max(sum((term.gain(price) for term in terms), arb(0)))
    return best


def top_of_range(terms: Sequence[BlockTerm], floor: float, ceiling: float) -> float:
    """Return a double above h at all prices from floor to ceiling, and above 0."""
    if floor > ceiling:
        return 0.0
    top = max(term.high for term in terms)
    if not top < math.inf:
        return math.inf
    # above all supports everybody sells, and h is a line
    alone = [floor] if floor >= top else []
    alone += [ceiling] if top < ceiling < math.inf else []
    if ceiling == math.inf and not sum((term.cost for term in terms), arb(0)) >= 0:
        return math.inf
    found = max([0.0, *(rounded_up(sum((term.gain(price) for term in terms), arb(0))) for price in alone)])
    edges = {term.low for term in terms} | {term.high for term in terms}
    edges |= {end for term in terms for piece in term.pieces for end in (piece.low, piece.high)}
    last = min(ceiling, top)
    nodes = sorted({floor, last} | {edge for edge in edges if floor < edge < last})
    if floor > last:
        return found
    if len(nodes) == 1:
        return max(found, rounded_up(sum((term.gain(floor) for term in terms), arb(0))))
    cells = _Cells(terms)
    for a, b in itertools.pairwise(nodes):
        cells.add(a, b)
    # at the last node itself laws that end there jump to 1
    found = max(found, rounded_up(sum((term.gain(last) for term in terms), arb(0))))
    return max(found, cells.top())


class _Cells:
    """Cells of one block, the one of the largest bound first."""

    def __init__(self, terms: Sequence[BlockTerm]) -> None:
        self._terms, self._heap, self._best = terms, list[tuple[float, float, float]](), 0.0
        self._scale = float(sum(abs(float(term.worth.mid())) for term in terms))

    def add(self, a: float, b: float) -> None:
        """Bound h on [a, b], and write down the value in its middle."""
        middle, above = _on_cell(self._terms, a, b)
        if middle.is_finite():
            self._best = max(self._best, float(-rounded_up(-middle)))
        heapq.heappush(self._heap, (-above, a, b))

    def top(self) -> float:
        """Return a bound on all cells, after halving the largest ones."""
        for count in range(_MOST_CELLS):
            largest, a, b = self._heap[0]
            middle = a + (b - a) / 2
            nothing = self._best == 0 and count < _MOST_FOR_NOTHING
            near = 0.0 if nothing else self._best + _NEAR * self._best + _NEAR_SCALE * self._scale
            if -largest <= near or not a < middle < b:
                break
            heapq.heappop(self._heap)
            self.add(a, middle)
            self.add(middle, b)
        return max(-self._heap[0][0], 0.0)


def _on_cell(terms: Sequence[BlockTerm], a: float, b: float) -> tuple[Ball, float]:
    """Enclose h in the middle of a cell, and return a double above h on all of it."""
    low, high = arb(a), arb(b)
    middle, half = (low + high) / 2, (high - low) / 2
    value = slope = bend = twist = by_hulls = arb(0)
    for term in terms:
        if b <= term.low:
            continue
        worth = term.worth - term.cost * middle
        if a >= term.high:
            F, f, half_bend, hull = arb(1), arb(0), arb(0), [arb(1)]
        elif (piece := term.piece(a, b)) is not None:
            F, f, half_bend = piece.cdf(middle), piece.taylor(middle, middle)[1], piece.taylor(low, high)[2]
            hull = [piece.cdf(low), piece.cdf(high)]
        else:
            F = f = half_bend = arb("nan")
            hull = [arb(0), arb(1)]
        value += worth * F
        slope += worth * f - term.cost * F
        bend += worth * half_bend - term.cost * f
        twist += term.cost * half_bend
        corners = [(term.worth - term.cost * price) * q for price in (low, high) for q in hull]
        by_hulls += reduce(arb.max, corners)
    by_taylor = value + abs(slope) * half + bend.max(arb(0)) * half**2 + abs(twist) * half**3
    bounds = [rounded_up(each) for each in (by_taylor, by_hulls) if each.is_finite()]
    return value, min(bounds, default=math.inf)
