"""Blocks: rows that get one posted price together, or one draw of it.

With x(p) the probability of posting p to a block, a row's acceptance is Σ x F(p) and her expected
payment Σ x p F(p), whatever her law is. For multipliers that leave a_r of the worth of each
acceptance and put c_r on each payment a block adds max {Σ m_r (a_r − c_r p) F_r(p): p may be
posted} to the dual, or 0 for no offer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smqopt.market.pooling._branch_and_bound import Enclosure, enclose
from smqopt.market.pooling._cells import Cells
from smqopt.market.pooling._chord_bounds import Bend
from smqopt.market.pooling._terms import LawTerms
from smqopt.numeric import Floats, Indices, Mask

_KNOTS, _CELLS = 128, 16
"""A block with more knots begins with about so many cells; where laws bend, at least."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """G blocks of rows, and the prices that may be posted to each."""

    of_row: Indices
    """The block of each row of a statement, −1 for those in none; shape (n′,)."""
    terms: LawTerms
    floor: Floats
    ceiling: Floats
    """In currency, +∞ where there is none; shape (G,)."""
    lists: tuple[Floats | None, ...]
    """The prices that may be posted, increasing, where they are on a list."""

    @property
    def count(self) -> int:
        """G, how many blocks there are."""
        return self.floor.size

    @cached_property
    def rows(self) -> Indices:
        """The rows in blocks, increasing."""
        return np.flatnonzero(self.of_row >= 0)

    @cached_property
    def nodes(self) -> tuple[Floats, ...]:
        """Prices of each block between which its cells lie.

        Of a list, all of it.
        """
        return tuple(self._nodes(g) for g in range(self.count))

    def highest(self) -> Floats:
        """Return the highest price of use of each block, −∞ where there is none."""
        return np.array([nodes.max(initial=-np.inf) for nodes in self.nodes])

    def highest_acceptance(self) -> Floats:
        """Return F of the rows in blocks at the highest prices of use; shape of `rows`."""
        price = self.highest()
        group = np.flatnonzero(price >= 0)
        _, row, F = self.acceptance(group, price[group])
        return np.minimum(np.bincount(row, weights=F, minlength=self.of_row.size)[self.rows], 1.0)

    def cells(self, a: Floats, c: Floats) -> Cells:
        """Return the cells of all prices that may be posted, for worths of terms."""
        group = np.repeat(np.arange(self.count), [nodes.size for nodes in self.nodes])
        price = np.concatenate([np.zeros(0), *self.nodes])
        ends = [
            nodes if listed is not None else np.append(nodes[1:], nodes[-1:])
            for nodes, listed in zip(self.nodes, self.lists, strict=True)
        ]
        return self.terms.cells(group, price, np.concatenate([np.zeros(0), *ends]), a, c)

    def enclose(self, a: Floats, c: Floats, allowed: float) -> Enclosure:
        """Bound what each block adds to the dual, for worths of rows of the statement.

        Parameters
        ----------
        a, c
            m_r a_r and m_r c_r of each row, shape (n′,).
        allowed
            How far the bound of a block may lie above the best price found.
        """
        of = self.terms.row, self.terms.weight
        a, c = a[of[0]] * of[1], c[of[0]] * of[1]
        return enclose(self.terms, self.cells(a, c), a, c, allowed)

    def acceptance(self, group: Indices, price: Floats) -> tuple[Indices, Indices, Floats]:
        """Return numbers of prices, rows, and F of each row at a price of her block.

        Arrays of one length; a row may have several entries, to be added up.
        """
        return self.terms.at(group, price)

    def density(self, group: Indices, price: Floats) -> tuple[Indices, Indices, Floats]:
        """Return what `acceptance` does, of the densities."""
        return self.terms.density_at(group, price)

    def is_smooth(self, group: Indices, low: Floats, high: Floats) -> Mask:
        """Say which blocks may post all prices from one to another, none of them a knot."""
        found = np.zeros(group.size, dtype=np.bool_)
        for k, (g, first, last) in enumerate(zip(group.tolist(), low.tolist(), high.tolist(), strict=True)):
            if self.lists[g] is None:
                knots = self.terms.knots_of(g)
                found[k] = not np.any((knots >= first) & (knots <= last))
        return found

    def _nodes(self, g: int) -> Floats:
        floor, ceiling, listed = float(self.floor[g]), float(self.ceiling[g]), self.lists[g]
        if listed is not None:
            return listed[(listed >= floor) & (listed <= ceiling)]
        knots = self.terms.knots_of(g)
        if knots.size > _KNOTS:
            kept = np.unique(np.linspace(0, knots.size - 1, _CELLS).astype(np.intp))
            knots = knots[kept]
        ends = [end for end in (floor, ceiling) if end < np.inf and (end > knots[0] or end == ceiling)]
        nodes = np.unique(np.append(knots, ends))
        nodes = nodes[(nodes >= floor) & (nodes <= ceiling)]
        if nodes.size < 2 or nodes.size >= _CELLS or not self._bends(g):
            return nodes
        share = np.arange(-(-_CELLS // (nodes.size - 1))) * (1.0 / -(-_CELLS // (nodes.size - 1)))
        return np.unique(np.append(nodes[:-1, np.newaxis] + np.diff(nodes)[:, np.newaxis] * share, nodes[-1]))

    def _bends(self, g: int) -> bool:
        return bool(np.any(self.terms.bend[self.terms.start[g] : self.terms.start[g + 1]] > Bend.STRAIGHT))
