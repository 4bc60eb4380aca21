"""The columns of blocks: prices met so far, and what each buys and uses."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from smqopt.market import Blocks, Statement
from smqopt.numeric import Floats, Indices, Mask

_TOPS = 3
"""Tops of a block that are looked at, the highest ones."""
_SMALL, _SMALLEST = 24, 64
"""Halvings of the first step of prices, and at most so many more where money is short."""
_PAIRS, _FEWEST = 1 << 15, 32
"""Laws times first prices of a block, but for so many prices."""
_BETWEEN = np.array([0.25, 0.5, 0.75])
"""Where first prices lie between the ends of a cell."""
_IDLE = 1e-11
"""Coefficients of a column, relative to the rows' sizes, of which the largest is no larger."""
_SIDE = 2.0**-3
"""Beside a new price two more are taken, at this share of the step to it."""


class BlockColumns:
    """Prices of G blocks; G = 0 where a statement has none."""

    def __init__(self, statement: Statement) -> None:
        blocks = statement.blocks
        self.count = 0 if blocks is None else blocks.count
        self.rows = np.zeros(0, dtype=np.intp) if blocks is None else blocks.rows
        self._statement = statement
        self._m = statement.weights()
        self.group = np.zeros(0, dtype=np.intp)
        self.price = np.zeros(0)
        self._parts = [sparse.csr_array((0, statement.reduced.n))]
        self.usage = np.zeros((0, statement.at_most.size + 1))
        """What each price uses of the budget and of the rows; shape (columns, k + 1)."""

    @property
    def blocks(self) -> Blocks:
        """The blocks, where there are any."""
        assert self._statement.blocks is not None  # noqa: S101
        return self._statement.blocks

    @property
    def are_listed(self) -> bool:
        """Whether all prices that may be posted stand on lists."""
        return self.count == 0 or all(listed is not None for listed in self.blocks.lists)

    @property
    def acceptance(self) -> sparse.csr_array:
        """F of each row at each price; shape (columns, n′)."""
        if len(self._parts) > 1:
            self._parts = [sparse.csr_array(sparse.vstack(self._parts))]
        return self._parts[0]

    def first(self, sizes: Floats) -> tuple[Indices, Floats]:
        """Return prices to begin with: ends, jumps and breaks, and just below jumps.

        Small ones where money is short.
        """
        groups, prices = [], []
        short = float(np.sum(self._m * self._statement.reduced.high)) / sizes[0]
        small = 2.0 ** -np.arange(1.0, _SMALL + 1 + max(0.0, min(np.log2(max(short, 1.0)), _SMALLEST)))
        for g, nodes in enumerate(self.blocks.nodes):
            jumps = np.zeros(0) if self.blocks.lists[g] is not None else self.blocks.terms.jumps_of(g)
            below = np.nextafter(jumps[jumps > 0], 0.0)
            within = (below >= self.blocks.floor[g]) & (below <= self.blocks.ceiling[g])
            every = np.unique(np.concatenate([nodes, below[within]]))
            if self.blocks.lists[g] is None and nodes.size > 1:
                near = nodes[0] + (nodes[1] - nodes[0]) * small
                near = np.append(near, (nodes[:-1, np.newaxis] + np.diff(nodes)[:, np.newaxis] * _BETWEEN).ravel())
                every = np.unique(np.concatenate([every, near]))
            most = max(_FEWEST, _PAIRS // int(self.blocks.terms.sizes[g]))
            if self.blocks.lists[g] is None and every.size > most:
                every = every[np.unique(np.linspace(0, every.size - 1, most).astype(np.intp))]
            groups.append(np.full(every.size, g))
            prices.append(every)
        return np.concatenate(groups).astype(np.intp), np.concatenate(prices)

    def add(self, group: Indices, price: Floats) -> tuple[Indices, sparse.csr_array]:
        """Take new prices in; return the numbers of the new columns, and F there."""
        matrix, usage = self.uses(group, price)
        first = self.price.size
        self.group, self.price = np.append(self.group, group), np.append(self.price, price)
        self._parts.append(matrix)
        self.usage = np.vstack([self.usage, usage])
        return np.arange(first, self.price.size), matrix

    def mix(self, share: Floats) -> Floats:
        """Return the acceptances of rows under shares of all prices; shape (n′,)."""
        edges, q = np.cumsum([0, *(part.shape[0] for part in self._parts)]), np.zeros(self._m.size)
        for start, part in zip(edges[:-1].tolist(), self._parts, strict=True):
            drawn = np.flatnonzero(share[start : start + part.shape[0]])
            q += np.asarray(part[drawn].T @ share[start + drawn])
        return q

    def uses(self, group: Indices, price: Floats) -> tuple[sparse.csr_array, Floats]:
        """Return the acceptances at prices, and what they use of the rows."""
        node, row, F = self.blocks.acceptance(group, price)
        starts = np.append(0, np.cumsum(np.bincount(node, minlength=price.size)))
        matrix = sparse.csr_array((F, row, starts), shape=(price.size, self._m.size))
        matrix.sum_duplicates()
        paid = sparse.csr_array(sparse.diags_array(price) @ matrix)
        of_rows = (self._statement.acceptance @ matrix.T + self._statement.spend @ paid.T).toarray().T
        return matrix, np.column_stack([np.asarray(paid @ self._m), of_rows])

    def differ_from_no_offer(self, group: Indices, price: Floats, sizes: Floats) -> Mask:
        """Say which prices a linear program tells from no offer.

        Those that nobody accepts may stay.
        """
        matrix, usage = self.uses(group, price)
        most = np.maximum(matrix.max(axis=1).toarray().ravel(), np.max(np.abs(usage) / sizes, axis=1, initial=0.0))
        return np.asarray((most == 0) | (most > _IDLE))

    def heights(self, z: Floats, worth: Floats) -> Floats:
        """Return what each price buys beyond what it uses."""
        bought = np.concatenate([np.asarray(part @ (self._m * worth)) for part in self._parts])
        return bought - self.usage @ z

    def gains(self, group: Indices, price: Floats, worth: Floats) -> Floats:
        """Return what prices of blocks buy, at values of acceptances."""
        return np.asarray(self.uses(group, price)[0] @ (self._m * worth))

    def better(self, height: Floats, apart: float) -> tuple[Indices, Floats]:
        """Return prices that may be worth more, from parabolas through known ones.

        None is nearer to known ones than `apart`, relatively.
        """
        order = np.lexsort((self.price, self.group))
        group, price, h = self.group[order], self.price[order], height[order]
        wide = np.array([listed is None for listed in self.blocks.lists])[group]
        left = np.append(False, group[1:] == group[:-1])
        right = np.append(group[1:] == group[:-1], False)
        before = np.append(-np.inf, h[:-1])
        after = np.append(h[1:], -np.inf)
        top = wide & (left | right) & (~left | (h >= before)) & (~right | (h >= after))
        at = np.flatnonzero(top)
        at = at[np.lexsort((-h[at], group[at]))]
        rank = np.arange(at.size) - np.searchsorted(group[at], group[at])
        at = at[(rank < _TOPS) & (h[at] > -np.abs(h[at]).max(initial=0.0))]
        if not at.size:
            return np.zeros(0, dtype=np.intp), np.zeros(0)
        lower = np.where(left[at], price[np.maximum(at - 1, 0)], price[at])
        upper = np.where(right[at], price[np.minimum(at + 1, price.size - 1)], price[at])
        vertex = _vertex(lower, price[at], upper, before[at], h[at], after[at])
        step = np.abs(vertex - price[at])
        new = np.concatenate([vertex, vertex - _SIDE * step, vertex + _SIDE * step])
        of, low, high = np.tile(group[at], 3), np.tile(lower, 3), np.tile(upper, 3)
        known = np.tile(price[at], 3)
        distance = np.minimum(np.minimum(new - low, high - new), np.where(new == known, 0.0, np.abs(new - known)))
        kept = np.flatnonzero(distance > apart * high)
        pairs = np.unique(np.column_stack([of[kept], new[kept]]), axis=0)
        return pairs[:, 0].astype(np.intp), pairs[:, 1]


def _vertex(x0: Floats, x1: Floats, x2: Floats, h0: Floats, h1: Floats, h2: Floats) -> Floats:
    """Return the top of a parabola through three points, or a middle."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        s01, s12 = (h1 - h0) / (x1 - x0), (h2 - h1) / (x2 - x1)
        bend = (s12 - s01) / (x2 - x0)
        step = -(s01 + bend * (x1 - x0)) / (2.0 * bend)
    inner = np.where(x1 - x0 > x2 - x1, 0.5 * (x0 + x1), 0.5 * (x1 + x2))
    good = (x0 < x1) & (x1 < x2) & (bend < 0) & np.isfinite(step)
    near = np.clip(x1 + np.where(good, step, 0.0), x0 + 0.1 * (x1 - x0), x2 - 0.1 * (x2 - x1))
    return np.where(good, near, inner)
