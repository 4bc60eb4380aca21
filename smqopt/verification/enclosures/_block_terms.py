"""What blocks add to the weak-duality bound, in balls.

A block is posted one price p for all its rows. For multipliers it adds h(p) = Σ_k (a_k − c_k p)
F_k(p) at most, or nothing for no offer. Prices that may be posted are cut where a law changes its
formula. On a cell of middle m and half-width r, with u = p − m and F(p) = F(m) + F′(m) u + F″(ξ)
u²/2,

    h(p) ≤ h(m) + |h′(m)| r + max(M, 0) r² + |Σ c F″(ξ)/2| r³,

with M = Σ {(a − c m) F″(ξ)/2 − c F′(m)}, where F″(ξ) is a ball that holds all of the cell; where
K = −M − |Σ c F″(ξ)/2| r is above 0, h ≤ h(m) + h′(m)²/4K. And as F rises, each term is at most the
largest product of ends of both factors. Cells are halved until none may hold more than a trifle
above the best value found; a cell around a posted price, which is a top, need not be small. Where
they are many, as where all prices gain alike, F is taken to its seventh derivative in the same way,
so that what cancels in the sums of the laws cancels to that order.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from flint import arb, ctx

from smqopt.numeric import Ball, Floats, rounded_up
from smqopt.valuation import ORDER, PieceLaw, SmoothPiece
from smqopt.verification.enclosures._curve import Curve

_NEAR, _NEAR_SCALE = 2.0**-43, 2.0**-50
"""How far the bound of a block may lie above the best value found, relative to it and to Σ |a|;"""
_BITS, _BITS_A_HALF = 128, 16
"""half of the latter for each so many more bits: they are tried where the first do not do."""
_CENTRES = 24
"""Times that a cell around a posted price is halved until h is seen to bend down on it."""
_FEW_CELLS = 48
"""Cells of a block that are bounded by a second derivative; of more, all known ones are taken."""
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
    finer: Callable[[], PieceLaw | str]
    """Gives the pieces with `ORDER` coefficients each, for cells where others do not suffice."""

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
        return _covering(self.pieces, a, b)

    def finer_piece(self, a: float, b: float) -> SmoothPiece | None:
        """Return what `piece` does, with more coefficients."""
        pieces = self.finer()
        return None if isinstance(pieces, str) else _covering(pieces(self.place), a, b)


def _covering(pieces: Sequence[SmoothPiece], a: float, b: float) -> SmoothPiece | None:
    return next((piece for piece in pieces if piece.low <= a and b <= piece.high), None)


def top_of_list(terms: Sequence[BlockTerm], prices: Floats) -> Ball:
    """Return a ball whose upper end is above h at all prices of a list, and above 0."""
    best = arb(0)
    for price in prices.tolist():
        best = best.max(sum((term.gain(price) for term in terms), arb(0)))
    return best


def top_of_range(terms: Sequence[BlockTerm], floor: float, ceiling: float, posted: Sequence[float] = ()) -> float:
    """Return a double above h at all prices from floor to ceiling, and above 0.

    Prices that are posted, increasing, may be tops: any will do.
    """
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
        cells.add_segment(a, b, posted)
    # at the last node itself laws that end there jump to 1
    found = max(found, rounded_up(sum((term.gain(last) for term in terms), arb(0))))
    return max(found, cells.top())


class _Segment:
    """Prices between two neighbouring edges, where each law has one formula."""

    def __init__(self, terms: Sequence[BlockTerm], low: float, high: float) -> None:
        self.low, self.high = low, high
        alive = [(term, low >= term.high, term.piece(low, high)) for term in terms if term.low < high]
        self._sellers = [term for term, sold, _ in alive if sold]
        self._bent = [(term, piece) for term, sold, piece in alive if not sold and piece is not None]
        self._unknown = [term for term, sold, piece in alive if not sold and piece is None]
        self._F, self._middles = dict[float, list[Ball]](), dict[float, tuple[Ball, Ball, Ball, Ball]]()

    def acceptances(self, price: float) -> list[Ball]:
        """Return F of the laws that bend, from within."""
        if price not in self._F:
            self._F[price] = [piece.cdf(arb(price)) for _, piece in self._bent]
        return self._F[price]

    def by_hulls(self, a: float, b: float) -> Ball:
        """Bound h on [a, b], as F rises."""
        ends, total = (arb(a), arb(b)), arb(0)
        for (term, _), *hull in zip(self._bent, self.acceptances(a), self.acceptances(b), strict=True):
            total += reduce(arb.max, [(term.worth - term.cost * price) * q for price in ends for q in hull])
        for term in self._unknown:
            total += reduce(arb.max, [term.worth - term.cost * price for price in ends], arb(0))
        return total + reduce(arb.max, [self._of_sellers(price) for price in ends])

    def at(self, m: float) -> tuple[Ball, Ball, Ball, Ball]:
        """Return h and h′ at a price inside, Σ c f and Σ c."""
        if m not in self._middles:
            price = arb(m)
            value, slope = self._of_sellers(price), -sum((term.cost for term in self._sellers), arb(0))
            spread = arb("nan") if self._unknown else arb(0)
            for (term, piece), F in zip(self._bent, self.acceptances(m), strict=True):
                worth, f = term.worth - term.cost * price, piece.pdf(price)
                value, slope, spread = value + worth * F, slope + worth * f - term.cost * F, spread + term.cost * f
            self._middles[m] = value, slope, spread, price
        return self._middles[m]

    def by_taylor(self, a: float, m: float, b: float) -> Ball:
        """Bound h on [a, b] by its Taylor polynomial at a price m in between."""
        value, slope, spread, price = self.at(m)
        low, high = arb(a), arb(b)
        half, bend, twist = (price - low).max(high - price), -spread, arb(0)
        for term, piece in self._bent:
            half_bend = piece.bend(low, high)  # type: ignore[misc]
            bend, twist = bend + (term.worth - term.cost * price) * half_bend, twist + term.cost * half_bend
        return _below_parabola(value, slope, bend + abs(twist) * half, half)

    def by_series(self, a: float, m: float, b: float) -> Ball:
        """Bound h on [a, b] as `by_taylor` does, with all coefficients there are."""
        price, low, high = arb(m), arb(a), arb(b)
        half, sums = (price - low).max(high - price), [arb(0)] * (ORDER + 1)
        sums[0], sums[1] = self._of_sellers(price), -sum((term.cost for term in self._sellers), arb(0))
        for term, piece in self._finer:
            if piece is None:
                return arb("nan")
            worth, known = term.worth - term.cost * price, piece.taylor(price, price)
            for k, coefficient in enumerate([*known[:-1], piece.taylor(low, high)[-1]]):
                sums[k] += worth * coefficient
                sums[k + 1] -= term.cost * coefficient
        value, slope, bend, *rest = sums
        return _below_parabola(value, slope, sum((abs(x) * half**k for k, x in enumerate(rest, 1)), bend), half)

    @cached_property
    def _finer(self) -> list[tuple[BlockTerm, SmoothPiece | None]]:
        """The laws that bend, with finer pieces, or None where there are none."""
        alive = [term for term, _ in self._bent] + self._unknown
        return [(term, term.finer_piece(self.low, self.high)) for term in alive]

    def _of_sellers(self, price: Ball) -> Ball:
        """What those who surely sell add."""
        return sum((term.worth - term.cost * price for term in self._sellers), arb(0))


def _below_parabola(value: Ball, slope: Ball, bend: Ball, half: Ball) -> Ball:
    """Bound value + slope u + bend u² over |u| ≤ half."""
    rise = abs(slope) * half
    if bend < 0:
        return value + rise.min(slope**2 / (-4 * bend))
    return value + rise + bend.max(arb(0)) * half**2


class _Cells:
    """Cells of one block, the one of the largest bound first."""

    def __init__(self, terms: Sequence[BlockTerm]) -> None:
        self._heap, self._best = list[tuple[float, float, float, int]](), 0.0
        self._segments = list[_Segment]()
        self._terms = terms
        size = float(sum(abs(float(term.worth.mid())) for term in terms))
        self._scale: float = _NEAR_SCALE * size * 2.0 ** (-max(ctx.prec - _BITS, 0) / _BITS_A_HALF)

    def add_segment(self, low: float, high: float, posted: Sequence[float]) -> None:
        """Bound h from edge to edge, with cells around prices that are posted."""
        segment, number = _Segment(self._terms, low, high), len(self._segments)
        self._segments.append(segment)
        last = low
        inside = [price for price in posted if low < price < high]
        for price, after in itertools.pairwise([*inside, high]):
            self._note(segment.at(price)[0])
            reach = min(price - last, after - price) / 2
            for _ in range(_CENTRES):
                bound = rounded_up(segment.by_taylor(price - reach, price, price + reach))
                if bound <= self._near:
                    break
                reach /= 2
            else:
                continue
            heapq.heappush(self._heap, (-bound, price - reach, price + reach, number))
            if last < price - reach:
                self._add(last, price - reach, number)
            last = price + reach
        self._add(last, high, number)

    def top(self) -> float:
        """Return a bound on all cells, after halving the largest ones."""
        for count in range(_MOST_CELLS):
            largest, a, b, number = self._heap[0]
            middle = a + (b - a) / 2
            nothing = self._best == 0 and count < _MOST_FOR_NOTHING
            if -largest <= (0.0 if nothing else self._near) or not a < middle < b:
                break
            heapq.heappop(self._heap)
            self._add(a, middle, number, closely=count >= _FEW_CELLS)
            self._add(middle, b, number, closely=count >= _FEW_CELLS)
        return max(-self._heap[0][0], 0.0)

    @property
    def _near(self) -> float:
        return self._best + _NEAR * self._best + self._scale

    def _note(self, value: Ball) -> None:
        """Write down a value of h."""
        if value.is_finite():
            self._best = max(self._best, float(-rounded_up(-value)))

    def _add(self, a: float, b: float, number: int, *, closely: bool = False) -> None:
        """Bound h on [a, b], of few cells with as little work as can be."""
        segment, middle = self._segments[number], a + (b - a) / 2
        bound = segment.by_hulls(a, b)
        above = rounded_up(bound) if bound.is_finite() else math.inf
        if above > self._near and a < middle < b:
            self._note(segment.at(middle)[0])
            bound = (segment.by_series if closely else segment.by_taylor)(a, middle, b)
            above = min(above, rounded_up(bound)) if bound.is_finite() else above
        heapq.heappush(self._heap, (-above, a, b, number))
