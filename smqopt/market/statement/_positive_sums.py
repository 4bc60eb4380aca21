"""A proof that a sum of acceptances is above 0 at all prices between two ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from flint import arb

from smqopt.market._market import Market
from smqopt.numeric import Ball, precision
from smqopt.valuation import ORDER, SmoothPiece, piece_law

_BITS, _SURE = 128, 2.0**-100
_ROUNDING = 2.0**-44
"""Of weights: sums that are no larger inside may be what rounding left of 0."""
_HALVINGS, _CELLS = 40, 400
"""Of a cell next to an end, and of others, before a proof is given up."""


@dataclass(frozen=True, eq=False)
class Term:
    """w F of one row."""

    weight: Ball
    low: float
    high: float
    pieces: tuple[SmoothPiece, ...]

    @classmethod
    def of(cls, reduced: Market, row: int, weight: Ball) -> Term | None:
        ((law, _),) = reduced.valuation.take(np.array([row])).parts()
        pieces = piece_law(law, ORDER)
        if isinstance(pieces, str):
            return None
        return cls(weight, float(reduced.low[row]), float(reduced.high[row]), pieces(0))

    def piece(self, a: float, b: float) -> SmoothPiece | None:
        return next((piece for piece in self.pieces if piece.low <= a and b <= piece.high), None)

    def acceptance(self, price: float, *, above: bool) -> Ball:
        """Return F at a price, from above or from below."""
        if price < self.low or (price == self.low and not above):
            return arb(0)
        if price > self.high or (price == self.high and above):
            return arb(1)
        side = [one for one in self.pieces if (one.low <= price < one.high if above else one.low < price <= one.high)]
        return side[0].cdf(arb(price)) if side else arb("nan")


def is_positive(reduced: Market, combination: Sequence[tuple[int, float]], low: float, high: float) -> bool:
    """Prove that Σ w F is above 0 at all prices between the ends.

    It is False where that is not decided, or where they are small beyond cells next to the ends.
    `combination` holds rows and weights, which sum to 0 but for the rounding of quotients.
    """
    with precision(_BITS):
        rest = -sum((arb(w) for _, w in combination[1:]), arb(0))
        weights = [rest, *(arb(w) for _, w in combination[1:])]
        found = [Term.of(reduced, row, w) for (row, _), w in zip(combination, weights, strict=True)]
        terms = [term for term in found if term is not None]
        edges = {end for term in terms for piece in term.pieces for end in (piece.low, piece.high)}
        edges |= {end for term in terms for end in (term.low, term.high)}
        nodes = sorted(edge for edge in edges if low <= edge <= high)
        return len(terms) == len(found) and all(_holds_on(terms, a, b, (low, high)) for a, b in pairwise(nodes))


def _holds_on(terms: Sequence[Term], a: float, b: float, ends: tuple[float, float]) -> bool:
    """Prove it on a segment up to both ends, but for the outer ones."""
    bent = [(term, term.piece(a, b)) for term in terms if term.low < b and a < term.high]
    if any(piece is None for _, piece in bent):  # less than a spacing of doubles wide
        return _by_hulls(terms, a, b)
    sold = sum((term.weight for term in terms if term.high <= a), arb(0))
    small = _ROUNDING * sum((abs(term.weight) for term in terms), arb(0))
    here = _Sum([(term.weight, piece) for term, piece in bent if piece is not None], sold)
    left, right = a, b
    if a == ends[0]:
        left = here.grows_from(a, b, upwards=True)
    if b == ends[1]:
        right = here.grows_from(b, left if left > a else a, upwards=False)
    if math.isnan(left) or math.isnan(right):
        return False
    cells, tried = [(left, right)], 0
    while cells:
        x, y = cells.pop()
        if not x < y or here.least(x, y) > small:
            continue
        middle, tried = x + (y - x) / 2, tried + 1
        if tried > _CELLS or not x < middle < y:
            return False
        cells += [(x, middle), (middle, y)]
    return True


def _by_hulls(terms: Sequence[Term], a: float, b: float) -> bool:
    """Prove it from what each law rises by between two prices."""
    least = arb(0)
    for term in terms:
        rises = term.weight > 0
        least += term.weight * (term.acceptance(a, above=True) if rises else term.acceptance(b, above=False))
    return bool(least > _ROUNDING * sum((abs(term.weight) for term in terms), arb(0)))


@dataclass(frozen=True, eq=False)
class _Sum:
    """Σ w F over laws that each have one formula, and those who sell for sure."""

    bent: list[tuple[Ball, SmoothPiece]]
    sold: Ball

    def least(self, a: float, b: float) -> Ball:
        """Return a ball below the sum on [a, b], by its Taylor polynomial at the middle."""
        middle = a + (b - a) / 2
        known, over = self._series(arb(middle), arb(middle)), self._series(arb(a), arb(b))
        apart = abs(arb(middle) - arb(a)).max(abs(arb(b) - arb(middle)))  # the middle is rounded
        return known[0] + self.sold - abs(known[1]) * apart - abs(over[2]) * apart**2

    def grows_from(self, end: float, other: float, *, upwards: bool) -> float:
        """Return how far from an outer end the sum is above 0.

        NaN where that is not known. It is 0 at the end. Its first coefficient there that is not 0
        keeps one sign on a cell.
        """
        at = self._series(arb(end), arb(end))
        of_end = at[0] + self.sold
        if of_end > 0:
            return end
        if not (of_end.contains(0) and of_end.rad() < _SURE):
            return math.nan
        for k in range(1, ORDER):
            if at[k].is_zero():
                continue
            sign = 1 if upwards or k % 2 == 0 else -1
            reach = other
            for _ in range(_HALVINGS):
                cell = (arb(end), arb(reach)) if upwards else (arb(reach), arb(end))
                if sign * self._series(*cell)[k] > 0:
                    return reach
                reach = end + (reach - end) / 2
            return math.nan
        return math.nan

    def _series(self, a: Ball, b: Ball) -> list[Ball]:
        sums = [arb(0)] * ORDER
        for weight, piece in self.bent:
            for k, coefficient in enumerate(piece.taylor(a, b)):
                sums[k] += weight * coefficient
        return sums
