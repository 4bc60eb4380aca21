"""The laws of each block, and what they add up to at a price.

A mixture counts as the laws that it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smqopt.market.pooling._cells import Cells
from smqopt.market.pooling._chebyshev import NODES, PLACES, tops_of_series
from smqopt.market.pooling._chord_bounds import Bend, bends, knots, off_chord
from smqopt.numeric import ROUNDING, Floats, Indices
from smqopt.valuation import Mixture, TruncatedLaw, Valuation

if TYPE_CHECKING:
    from smqopt.valuation import Remainders

_PAIRS_AT_A_TIME = 1 << 17
"""Their columns fit into a cache."""


@dataclass(frozen=True, eq=False)
class LawTerms:
    """The laws of G blocks: F_r of a row is Σ w_t F_t over its terms.

    Arrays of one length, block by block, but for `start`, `laws`, `knots` and `own`.
    """

    start: Indices
    """The first term of each block, and one after the last; shape (G + 1,)."""
    row: Indices
    """The row of the statement that a term belongs to."""
    weight: Floats
    """w_t > 0; those of a row sum to 1."""
    laws: tuple[Valuation, ...]
    """Families of laws."""
    family: Indices
    """Which of them each term has."""
    place: Indices
    """Which law of the family."""
    low: Floats
    high: Floats
    """The ends of the supports, in currency."""
    bend: Indices
    """What is known of F between the knots: a `Bend`."""
    knots: Floats
    """All knots of all laws, increasing; in currency."""
    own: NDArray[np.int64]
    """Increasing: term · (size of `knots` + 1) + number of a knot, for each knot of each term."""

    @property
    def sizes(self) -> Indices:
        """How many terms each block has, shape (G,)."""
        return np.diff(self.start)

    def knots_of(self, group: int) -> Floats:
        """Return the knots of a block's laws, increasing."""
        width = self.knots.size + 1
        a, b = np.searchsorted(self.own, [self.start[group] * width, self.start[group + 1] * width])
        return np.asarray(self.knots[np.unique(self.own[a:b] % width)])

    def jumps_of(self, group: int) -> Floats:
        """Return the prices at which laws of a block jump, increasing."""
        width = self.knots.size + 1
        a, b = np.searchsorted(self.own, [self.start[group] * width, self.start[group + 1] * width])
        term, knot = np.divmod(self.own[a:b], width)
        return np.asarray(self.knots[np.unique(knot[self.bend[term] == Bend.CONSTANT])])

    def at(self, group: Indices, price: Floats) -> tuple[Indices, Indices, Floats]:
        """Return numbers of prices, rows, and w F of each term, for prices of blocks."""
        node, term = self._pairs(group)
        return node, self.row[term], self.weight[term] * self._cdf(term, price[node])

    def density_at(self, group: Indices, price: Floats) -> tuple[Indices, Indices, Floats]:
        """Return numbers of prices, rows, and w f of each term, 0 off its support."""
        node, term = self._pairs(group)
        at = price[node]
        f = np.zeros(term.size)
        inside = (at > self.low[term]) & (at < self.high[term])
        f[inside] = self._apply(lambda law, t: law.pdf(t), term[inside], at[inside])
        return node, self.row[term], self.weight[term] * f

    def cells(self, group: Indices, price: Floats, end: Floats, a: Floats, c: Floats) -> Cells:
        """Return cells from a price up to another one, or of one price.

        Parameters
        ----------
        group
            The block of each cell, shape (k,).
        price, end
            In currency, shape (k,).
        a, c
            What one more acceptance of each term is worth, and what a payment costs; (T,).
        """
        sums, counts = np.zeros((8, group.size)), (a != 0) | (c != 0)
        bent_at, may_gain = np.zeros((2, group.size), dtype=np.bool_)
        for block in self._blocks(group):
            p0, p1 = price[block], end[block]
            cell, term = self._pairs(group[block])
            cell, term = cell[counts[term]], term[counts[term]]
            low, high = self.low[term], self.high[term]
            wide = (p1 > p0)[cell]
            within = wide & (p1[cell] > low) & (p0[cell] < high)
            F0 = self._cdf(term, p0[cell])
            F1 = F0.copy()
            F1[within] = np.maximum(self._below(term[within], p1[cell[within]]), F0[within])
            bend = np.where(within, self.bend[term], int(Bend.CONSTANT))
            bend = np.where(self._has_knot_between(cell, term, p0, p1) & within, int(Bend.RISING), bend)
            f0, f1 = np.zeros((2, term.size))
            bent = (bend == Bend.REGULAR) | (bend == Bend.MONOTONE_DENSITY)
            for f, p in ((f0, p0), (f1, p1)):
                f[bent] = self._apply(lambda law, t: law.pdf(t), term[bent], p[cell[bent]])
            with np.errstate(invalid="ignore"):
                up, down = off_chord(bend, (p1 - p0)[cell], (F0, F1), (f0, f1))
            a_, c_ = a[term], c[term]
            at0, at1 = a_ - c_ * p0[cell], a_ - c_ * p1[cell]
            top, bottom = np.maximum(at0, at1), np.minimum(at0, at1)
            error = np.maximum(np.maximum(top, 0.0) * up, np.maximum(-bottom, 0.0) * down)
            most = np.where(top >= 0, top * F1, top * F0)
            whole0, whole1 = (np.abs(a_) + np.abs(c_) * p[cell] for p in (p0, p1))
            least, size = whole0 * F0, whole1 * F1
            each_row = (a_ * F0, a_ * (F1 - F0), c_ * F0, c_ * (F1 - F0), error, most, size, least)
            for row, each in enumerate(each_row):
                sums[row, block] = np.bincount(cell, weights=each, minlength=p0.size)
            may_gain[block] = np.bincount(cell, weights=top > -ROUNDING.value * whole1, minlength=p0.size) > 0
            bent_at[block] = np.bincount(cell, weights=bend >= Bend.REGULAR, minlength=p0.size) > 0
        return Cells(group, self.sizes[group], price, end, ~bent_at, may_gain, *sums)

    def by_series(self, cells: Cells, a: Floats, c: Floats) -> Floats:
        """Bound h on cells, what laws gain being added up; no number if that fails."""
        bound = np.empty(cells.group.size)
        for block in self._blocks(cells.group):
            some = cells.take(block)
            price = np.clip(some.price + some.width * PLACES[:, np.newaxis], some.price, np.nextafter(some.end, 0.0))
            node, term = self._pairs(np.tile(some.group, PLACES.size))
            p = price.ravel()[node]
            h = np.bincount(node, weights=(a[term] - c[term] * p) * self._cdf(term, p), minlength=price.size)
            cell, term = self._pairs(some.group)
            low, high = some.price[cell], some.end[cell]
            bends = (a[term] != 0) | (c[term] != 0)
            bends &= (high > self.low[term]) & (low < self.high[term]) & (self.bend[term] != Bend.CONSTANT)
            cell, term, low, high = cell[bends], term[bends], low[bends], high[bends]
            of_F, of_f = self._remainders.at(self.family[term], self.place[term], low, high)
            worth = np.maximum(np.abs(a[term] - c[term] * low), np.abs(a[term] - c[term] * high))
            with np.errstate(invalid="ignore", over="ignore"):
                missed = worth * of_F + np.abs(c[term]) * of_f
            missed = np.bincount(cell, weights=missed, minlength=some.group.size)
            bound[block] = tops_of_series(h.reshape(price.shape)) + missed
        return bound

    @cached_property
    def _remainders(self) -> Remainders:
        from smqopt.valuation import Remainders  # noqa: PLC0415 -- loads ball arithmetic

        return Remainders(self.laws, NODES)

    def _cdf(self, term: Indices, price: Floats) -> Floats:
        """F at a price of any size."""
        low, high = self.low[term], self.high[term]
        F = np.where(price >= high, 1.0, 0.0)
        inside = (price >= low) & (price < high)
        F[inside] = self._apply(lambda law, t: law.cdf(t), term[inside], price[inside])
        return F

    def _below(self, term: Indices, price: Floats) -> Floats:
        """F just below a price."""
        jumps = self.bend[term] == Bend.CONSTANT
        low, high = self.low[term], self.high[term]
        inside = np.clip(price, low, high)
        F = np.where(price > high, 1.0, 0.0)
        for some, at in ((jumps & (price <= high), np.nextafter(price, 0.0)), (~jumps & (price <= high), inside)):
            known = some & (at >= low)
            F[known] = self._apply(lambda law, t: law.cdf(t), term[known], at[known])
        return F

    def _has_knot_between(self, cell: Indices, term: Indices, p0: Floats, p1: Floats) -> NDArray[np.bool_]:
        """Say whether a knot of a term lies strictly between the two prices of a cell."""
        found = np.zeros(term.size, dtype=np.bool_)
        for end in (self.low[term], self.high[term]):
            found |= (p0[cell] < end) & (end < p1[cell])
        at = np.flatnonzero(self._has_inner_knots[term] & ~found)
        if at.size:
            width = self.knots.size + 1
            first, last = np.searchsorted(self.knots, p0, side="right"), np.searchsorted(self.knots, p1, side="left")
            before, upto = (np.searchsorted(self.own, term[at] * width + each[cell[at]]) for each in (first, last))
            found[at] = upto > before
        return found

    @cached_property
    def _has_inner_knots(self) -> NDArray[np.bool_]:
        """Which terms have knots but the ends of their supports."""
        term, knot = np.divmod(self.own, self.knots.size + 1)
        price = self.knots[knot]
        inner = (price != self.low[term]) & (price != self.high[term])
        return np.bincount(term[inner], minlength=self.low.size) > 0

    def _blocks(self, group: Indices) -> Iterator[slice]:
        """Cut nodes of groups so that their pairs with terms fit into the memory."""
        upto = np.cumsum(self.sizes[group])
        first = 0
        while first < group.size:
            done = int(upto[first - 1]) if first else 0
            last = max(int(np.searchsorted(upto, done + _PAIRS_AT_A_TIME, side="right")), first + 1)
            yield slice(first, last)
            first = last

    def _pairs(self, group: Indices) -> tuple[Indices, Indices]:
        """Pair each node with the terms of its group: numbers of nodes, and of terms."""
        sizes = self.sizes[group]
        node = np.repeat(np.arange(group.size), sizes)
        return node, np.arange(node.size) + np.repeat(self.start[group] - (np.cumsum(sizes) - sizes), sizes)

    def _apply(self, method: Callable[[Valuation, Floats], Floats], term: Indices, price: Floats) -> Floats:
        """Ask the law of each term at a price of its own."""
        if len(self.laws) == 1:
            return np.broadcast_to(method(self.laws[0].take(self.place[term]), price), price.shape)
        out = np.empty(price.shape)
        family = self.family[term]
        order = np.argsort(family, kind="stable")
        upto = np.searchsorted(family[order], np.arange(len(self.laws) + 1))
        for k, law in enumerate(self.laws):
            mine = order[upto[k] : upto[k + 1]]
            if mine.size:
                out[mine] = method(law.take(self.place[term[mine]]), price[mine])
        return out


def terms_of(law: Valuation, rows: Indices, start: Indices) -> LawTerms:
    """Gather the laws of blocks.

    Parameters
    ----------
    law
        Of all rows of a statement.
    rows
        The rows of the blocks, block by block.
    start
        The first place in `rows` of each block, and one after the last; shape (G + 1,).
    """
    group = np.repeat(np.arange(start.size - 1), np.diff(start))
    chosen = law.take(rows)
    laws, columns = list[Valuation](), list[list[NDArray[Any]]]()
    for part, term, weight in _families(chosen, np.arange(rows.size, dtype=np.intp), np.ones(rows.size)):
        size = term.size
        place = np.arange(size) if part.size is not None else np.zeros(size, dtype=np.intp)
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), size) for end in (part.low, part.high))
        of = [group[term], rows[term], weight]
        columns.append([*of, np.full(size, len(laws)), place, low, high, bends(part, size)])
        laws.append(part)
    number, row, share, family, place, low, high, bend = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    order = np.argsort(number, kind="stable")
    offset = np.cumsum([0, *(column[0].size for column in columns)])
    found = [knots(part, column[7]) for part, column in zip(laws, columns, strict=True)]
    of_term = np.concatenate([first + where for first, (where, _) in zip(offset[:-1], found, strict=True)])
    price = np.concatenate([each for _, each in found])
    position = np.empty(order.size, dtype=np.intp)
    position[order] = np.arange(order.size)
    every, which = np.unique(price, return_inverse=True)
    return LawTerms(
        np.searchsorted(number[order], np.arange(start.size)).astype(np.intp),
        row[order].astype(np.intp),
        share[order],
        tuple(laws),
        family[order].astype(np.intp),
        place[order].astype(np.intp),
        low[order],
        high[order],
        bend[order].astype(np.intp),
        every,
        np.unique(position[of_term].astype(np.int64) * (every.size + 1) + which),
    )


def _families(law: Valuation, term: Indices, weight: Floats) -> Iterator[tuple[Valuation, Indices, Floats]]:
    """Split terms by family of law, mixtures into what they are made of, cut or not."""
    for part, index in law.parts():
        mine, whole = term[index], weight[index]
        if isinstance(part, Mixture):
            for inner, share in zip(part.laws, part.weights.tolist(), strict=True):
                yield from _families(inner, mine, whole * share)
        elif isinstance(part, TruncatedLaw) and (leaves := list(part.leaves())):
            for owners, share, inner in leaves:
                at = owners if part.size is not None else slice(None)
                yield from _families(inner, mine[at], whole[at] * share)
        elif part is law:
            yield part, mine, whole
        else:
            yield from _families(part, mine, whole)
