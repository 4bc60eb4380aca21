"""The different laws of each pooled group, and what they add up to at a price.

A mixture counts as the laws that it is made of. Indices of one law are one term: V and N are
weighted sums over terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.market._market import Market
from smqopt.market.pooling._cells import Cells
from smqopt.market.pooling._chord_bounds import Bend, bends, knots, off_chord
from smqopt.market.statement._same_price import law_numbers
from smqopt.numeric import Floats, Indices
from smqopt.valuation import Mixture, Valuation

_PAIRS_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class PooledTerms:
    """The terms of G groups, group by group.

    Arrays of one length but for `start`, `laws` and `knots`.
    """

    start: Indices
    """The first term of each group, and one after the last; shape (G + 1,)."""
    privacy: Floats
    """Σ m_i ε_i of the owners, in units of ε."""
    count: Floats
    """Σ m_i."""
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
    knots: tuple[Floats, ...]
    """The knots of each group's laws, increasing; in currency."""

    @property
    def sizes(self) -> Indices:
        """How many terms each group has, shape (G,)."""
        return np.diff(self.start)

    def cells(self, group: Indices, price: Floats, end: Floats, budget_price: float | None = None) -> Cells:
        """Return cells from a price up to another one, between which there is no knot.

        Or of one price, or of −∞ for no offer.

        With w = a − λcp for what a law's acceptance is worth, w(F − chord) ≤ max {w₊(p₀)·up,
        w₋(p₁)·down} on a cell, and wF ≤ w₊(p₀)F(p₁) − w₋(p₀)F(p₀), a and c being the privacy and
        the count of the law, up and down how far it leaves its chord. Such bounds, for one λ, are
        tighter than those for all.

        Parameters
        ----------
        group
            The group of each cell, shape (k,).
        price, end
            In currency, shape (k,).
        budget_price
            λ, if the cells are wanted for one alone.
        """
        sums = np.zeros((8, group.size))
        bent_at = np.zeros(group.size, dtype=np.bool_)
        for block in self._blocks(group):
            p0, p1 = price[block], end[block]
            cell, term = self._pairs(group[block])
            low, high = self.low[term], self.high[term]
            within = (p0[cell] >= low) & (p1[cell] <= high)
            bend = np.where(within & (p1 > p0)[cell], self.bend[term], int(Bend.CONSTANT))
            F0 = np.where(p0[cell] >= high, 1.0, 0.0)
            F0[within] = self._apply(lambda law, t: law.cdf(t), term[within], p0[cell[within]])
            F1, (f0, f1) = F0.copy(), np.zeros((2, term.size))
            rises, bent = bend != Bend.CONSTANT, (bend == Bend.REGULAR) | (bend == Bend.MONOTONE_DENSITY)
            F1[rises] = np.maximum(self._apply(lambda law, t: law.cdf(t), term[rises], p1[cell[rises]]), F0[rises])
            for f, p in ((f0, p0), (f1, p1)):
                f[bent] = self._apply(lambda law, t: law.pdf(t), term[bent], p[cell[bent]])
            with np.errstate(invalid="ignore"):
                up, down = off_chord(bend, (p1 - p0)[cell], (F0, F1), (f0, f1))
            a, m = self.privacy[term], self.count[term]
            off = (a * up, m * down)
            most = (a * F1, m * F0)
            if budget_price is not None:
                base = np.where(p0 >= 0, p0, 0.0)[cell]
                positive = a > budget_price * m * base
                above = np.where(positive, a - budget_price * m * base, 0.0) * up
                below = np.maximum(budget_price * m * np.maximum(p1[cell], 0.0) - a, 0.0) * down
                off = (np.maximum(above, below), np.zeros(term.size))
                F = np.where(positive, F1, F0)
                most = (a * F, m * F)
            for row, each in enumerate((a * F0, a * (F1 - F0), m * F0, m * (F1 - F0), *off, *most)):
                sums[row, block] = np.bincount(cell, weights=each, minlength=p0.size)
            bent_at[block] = np.bincount(cell, weights=bend >= Bend.REGULAR, minlength=p0.size) > 0
        return Cells(group, self.sizes[group], price, end, ~bent_at, *sums)

    def slopes(self, cells: Cells, price: Floats, budget_price: float) -> Floats:
        """Return the slope of V − λS in the price, at a price inside each cell.

        At its ends from inside; NaN where it is infinite in both ways.
        """
        group = cells.group
        middle, total = 0.5 * (cells.base + cells.end), np.zeros(group.size)
        for block in self._blocks(group):
            cell, term = self._pairs(group[block])
            p0, p1, p = cells.price[block][cell], cells.end[block][cell], price[block][cell]
            within = np.flatnonzero((p0 >= self.low[term]) & (p1 <= self.high[term]))
            sold = np.where(p0 >= self.high[term], 1.0, 0.0)
            density = np.zeros(term.size)
            sold[within] = self._apply(lambda law, t: law.cdf(t), term[within], p[within])
            dense = within[self.bend[term[within]] != Bend.CONSTANT]
            # where F runs straight the density is that in the middle, at either end
            at = np.where(self.bend[term[dense]] == Bend.STRAIGHT, middle[block][cell[dense]], p[dense])
            density[dense] = self._apply(lambda law, t: law.pdf(t), term[dense], at)
            a, m = self.privacy[term], budget_price * self.count[term]
            with np.errstate(invalid="ignore", over="ignore"):
                total[block] = np.bincount(cell, weights=(a - m * p) * density - m * sold, minlength=p0.size)[
                    : total[block].size
                ]
        return total

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


def terms_of(market: Market, groups: Sequence[Indices]) -> PooledTerms:
    """Gather the different laws of groups of owners.

    Parameters
    ----------
    market
        The owners.
    groups
        The owners of each group.
    """
    owners = np.concatenate(groups)
    group = np.repeat(np.arange(len(groups)), [members.size for members in groups])
    law = law_numbers(market.valuation, market.n)[owners]
    order = np.lexsort((law, group))
    first = np.flatnonzero(np.append(True, (np.diff(group[order]) != 0) | (np.diff(law[order]) != 0)))
    m = market.weights[owners[order]]
    bought = m * market.epsilon[owners[order]]
    ends = np.append(first[1:], owners.size)
    spans = list(zip(first.tolist(), ends.tolist(), strict=True))
    totals = np.array([(math.fsum(bought[a:b]), math.fsum(m[a:b])) for a, b in spans])
    chosen = market.valuation.take(owners[order][first])
    laws, columns = list[Valuation](), list[list[NDArray[Any]]]()
    for part, term, weight in _families(chosen, np.arange(first.size, dtype=np.intp), 1.0):
        size = term.size
        place = np.arange(size) if part.size is not None else np.zeros(size, dtype=np.intp)
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), size) for end in (part.low, part.high))
        rows = [group[order][first][term], weight * totals[term, 0], weight * totals[term, 1]]
        columns.append([*rows, np.full(size, len(laws)), place, low, high, bends(part, size)])
        laws.append(part)
    number, a, count, family, place, low, high, bend = (np.concatenate(column) for column in zip(*columns, strict=True))
    by_group = np.argsort(number, kind="stable")
    found = [knots(part, term[0].size) for part, term in zip(laws, columns, strict=True)]
    where = np.concatenate([rows[0][place] for rows, (place, _) in zip(columns, found, strict=True)])
    price = np.concatenate([each for _, each in found])
    at = np.lexsort((price, where))
    cut = np.searchsorted(where[at], np.arange(len(groups) + 1))
    return PooledTerms(
        np.searchsorted(number[by_group], np.arange(len(groups) + 1)).astype(np.intp),
        a[by_group],
        count[by_group],
        tuple(laws),
        family[by_group].astype(np.intp),
        place[by_group].astype(np.intp),
        low[by_group],
        high[by_group],
        bend[by_group].astype(np.intp),
        tuple(np.unique(price[at][i:j]) for i, j in zip(cut[:-1].tolist(), cut[1:].tolist(), strict=True)),
    )


def _families(law: Valuation, term: Indices, weight: float) -> Iterator[tuple[Valuation, Indices, float]]:
    """Split terms by family of law, mixtures into what they are made of."""
    for part, index in law.parts():
        mine = term[index]
        if isinstance(part, Mixture):
            for inner, share in zip(part.laws, part.weights.tolist(), strict=True):
                yield from _families(inner, mine, weight * share)
        elif part is law:
            yield part, mine, weight
        else:
            yield from _families(part, mine, weight)
