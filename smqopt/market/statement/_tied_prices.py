"""Prices at which owners of different laws sell alike.

Owners i and j who share a price, where i may sell no more often than j must, satisfy Σ x(p) (F_i(p)
− F_j(p)) ≤ 0. Where F_i is above F_j at all prices between the outer ends of their supports that
leaves no offer, and prices at which both sell for sure; and the same holds for the difference of
the mean acceptances, or payments, of groups in parity. Multipliers of the rows, however large,
would only come near to it. That no price in between is left is proved in balls, or the rows stand
as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from flint import arb
from scipy import sparse

from smqopt.market._market import Market
from smqopt.market.pooling._blocks import Blocks
from smqopt.numeric import Ball, Floats, Mask, precision
from smqopt.valuation import ORDER, SmoothPiece, piece_law

_POINTS = 65
"""Prices at which signs are looked at in doubles before a proof is tried."""
_ROUNDING = 2.0**-44
_FEW = 8
"""Rows with one bound of acceptance that are compared with others."""
_FAILURES = 8
"""Proofs that fail before a block's other rows are left as they are."""
_BITS, _SURE = 128, 2.0**-100
_HALVINGS, _CELLS = 40, 400
"""Of a cell next to an end, and of others, before a proof is given up."""

Combination = tuple[tuple[int, float], ...]
"""Rows and their weights, which sum to 0."""


def floors_of_ties(
    blocks: Blocks,
    reduced: Market,
    rows: tuple[sparse.csr_array, sparse.csr_array],
    equal: Mask,
    limits: Floats,
) -> Floats:
    """Return the least price that ties leave each block beside no offer; shape (G,).

    Parameters
    ----------
    blocks
        Rows that share posted prices.
    reduced
        n′ rows.
    rows, equal, limits
        A and S of the linear rows, shape (k, n′); which are equations; their limits.
    """
    floor, failed = blocks.floor.copy(), np.zeros(blocks.count, dtype=np.intp)
    for g, combination in (*_of_bounds(blocks, rows, equal, limits), *_of_rows(blocks, rows, equal, limits)):
        top = max(float(reduced.high[row]) for row, _ in combination)
        if blocks.lists[g] is None and floor[g] < top < np.inf and failed[g] < _FAILURES:
            if _leaves_nothing_between(reduced, blocks, g, combination):
                floor[g] = top
            else:
                failed[g] += 1
    return floor


def _of_bounds(
    blocks: Blocks, rows: tuple[sparse.csr_array, sparse.csr_array], equal: Mask, limits: Floats
) -> Iterator[tuple[int, Combination]]:
    """Return pairs of a block of which one may sell no more often than the other must."""
    of_acceptance, of_spend = rows
    alone = np.flatnonzero((np.diff(of_acceptance.indptr) == 1) & (np.diff(of_spend.indptr) == 0))
    at, a = (each[of_acceptance.indptr[alone]] for each in (of_acceptance.indices, of_acceptance.data))
    kept = (blocks.of_row[at] >= 0) & (a != 0)
    alone, at, a = alone[kept], at[kept], a[kept]
    bound = np.column_stack([blocks.of_row[at].astype(np.float64), limits[alone] / a])
    kind = np.unique(bound, axis=0, return_inverse=True)[1].ravel()
    at_most, at_least = ((sign * a > 0) | equal[alone] for sign in (1.0, -1.0))
    several = np.flatnonzero(np.bincount(kind) > 1) if kind.size else kind
    for one in several[np.isin(several, kind[at_most]) & np.isin(several, kind[at_least])].tolist():
        same = kind == one
        for i, j in product(at[same & at_most][:_FEW].tolist(), at[same & at_least][:_FEW].tolist()):
            if i != j:
                yield int(blocks.of_row[i]), ((i, 1.0), (j, -1.0))


def _of_rows(
    blocks: Blocks, rows: tuple[sparse.csr_array, sparse.csr_array], equal: Mask, limits: Floats
) -> Iterator[tuple[int, Combination]]:
    """Return rows of one block whose coefficients sum to 0, as their limit is."""
    for matrix, other in (rows, rows[::-1]):
        sums, sizes = matrix.sum(axis=1), abs(matrix).sum(axis=1)
        balanced = (np.diff(other.indptr) == 0) & (limits == 0) & (sizes > 0) & (np.abs(sums) <= _ROUNDING * sizes)
        for k in np.flatnonzero(balanced).tolist():
            at, a = (each[matrix.indptr[k] : matrix.indptr[k + 1]] for each in (matrix.indices, matrix.data))
            group = np.unique(blocks.of_row[at])
            if group.size == 1 and group[0] >= 0:
                for sign in (1.0, -1.0) if equal[k] else (1.0,):
                    yield int(group[0]), tuple(zip(at.tolist(), (sign * a).tolist(), strict=True))


def _leaves_nothing_between(reduced: Market, blocks: Blocks, group: int, combination: Combination) -> bool:
    """Return whether Σ w F > 0 at all prices at which somebody of the block sells, but the highest."""
    rows, weights = np.array([row for row, _ in combination]), np.array([w for _, w in combination])
    low, high = float(reduced.low[rows].min()), float(reduced.high[rows].max())
    members = np.flatnonzero(blocks.of_row == group)
    lows = reduced.low[members]
    if np.any(lows < low) or np.any(reduced.valuation.take(members[lows == low]).cdf(lows[lows == low]) > 0):
        return False
    price = np.linspace(low, high, _POINTS)[1:-1]
    of_price = np.zeros(price.size)
    for row, w in combination:
        law, ends = reduced.valuation.take(np.full(price.size, row)), (reduced.low[row], reduced.high[row])
        F = law.cdf(np.clip(price, *ends))
        of_price += w * np.where(price < ends[0], 0.0, np.where(price >= ends[1], 1.0, F))
    if not np.all(of_price > _ROUNDING * float(np.sum(np.abs(weights)))):
        return False
    rest = -sum((arb(w) for w in weights[1:].tolist()), arb(0))  # rounded quotients, that are to sum to 0
    found = [_Term.of(reduced, row, w) for row, w in zip(rows.tolist(), [rest, *weights[1:].tolist()], strict=True)]
    terms = [term for term in found if term is not None]
    return len(terms) == rows.size and _is_positive(terms, low, high)


@dataclass(frozen=True, eq=False)
class _Term:
    """w F of one row."""

    weight: Ball
    low: float
    high: float
    pieces: tuple[SmoothPiece, ...]

    @classmethod
    def of(cls, reduced: Market, row: int, weight: Ball | float) -> _Term | None:
        ((law, _),) = reduced.valuation.take(np.array([row])).parts()
        pieces = piece_law(law, ORDER)
        if isinstance(pieces, str):
            return None
        return cls(arb(weight), float(reduced.low[row]), float(reduced.high[row]), pieces(0))

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


def _is_positive(terms: Sequence[_Term], low: float, high: float) -> bool:
    """Prove that Σ w F is above 0 at all prices between the ends."""
    edges = {end for term in terms for piece in term.pieces for end in (piece.low, piece.high)}
    edges |= {end for term in terms for end in (term.low, term.high)}
    nodes = sorted(edge for edge in edges if low <= edge <= high)
    with precision(_BITS):
        return all(_holds_on(terms, a, b, (low, high)) for a, b in pairwise(nodes))


def _holds_on(terms: Sequence[_Term], a: float, b: float, ends: tuple[float, float]) -> bool:
    """Prove it on a segment between neighbouring edges, up to both of them but for the outer ends."""
    bent = [(term, term.piece(a, b)) for term in terms if term.low < b and a < term.high]
    if any(piece is None for _, piece in bent):  # less than a spacing of doubles wide
        return _by_hulls(terms, a, b)
    sold = sum((term.weight for term in terms if term.high <= a), arb(0))
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
        if not x < y or here.least(x, y) > 0:
            continue
        middle, tried = x + (y - x) / 2, tried + 1
        if tried > _CELLS or not x < middle < y:
            return False
        cells += [(x, middle), (middle, y)]
    return True


def _by_hulls(terms: Sequence[_Term], a: float, b: float) -> bool:
    """Prove it from what each law rises by between two prices."""
    least = arb(0)
    for term in terms:
        rises = term.weight > 0
        least += term.weight * (term.acceptance(a, above=True) if rises else term.acceptance(b, above=False))
    return bool(least > 0)


@dataclass(frozen=True, eq=False)
class _Sum:
    """Σ w F over laws that each have one formula, and those who sell for sure."""

    bent: list[tuple[Ball, SmoothPiece]]
    sold: Ball

    def least(self, a: float, b: float) -> Ball:
        """Return a ball below the sum on [a, b], by its Taylor polynomial at the middle."""
        middle = a + (b - a) / 2
        known, over = self._series(arb(middle), arb(middle)), self._series(arb(a), arb(b))
        half = arb(b - a)  # no less than half of it, rounded
        return known[0] + self.sold - abs(known[1]) * half / 2 - abs(over[2]) * half**2 / 4

    def grows_from(self, end: float, other: float, *, upwards: bool) -> float:
        """Return how far from an outer end the sum is above 0; NaN where that is not known.

        It is 0 at the end. Its first coefficient there that is not 0 keeps one sign on a cell.
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
