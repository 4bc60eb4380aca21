"""The equations of an optimum over drawn prices."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from smqopt.numeric import Floats, Indices
from smqopt.solvers.columns._column_answers import Found
from smqopt.solvers.columns._column_search import ColumnSearch
from smqopt.solvers.columns._draws import SURE
from smqopt.solvers.columns._tops import REACH, Tops

RELATIVE = 2.0**-20
"""Of the multipliers, for differences."""
TIED = 2.0**-28
"""Laws as bad as the worst one, relative to the bound, count whatever their weight."""


class Equations:
    """What holds at an optimum.

    Active rows are met, drawn prices tie at their tops, the worst laws are alike. Unknown are
    multipliers, weights of laws, free shares, tied acceptances and prices of draws.
    """

    def __init__(self, search: ColumnSearch, found: Found, worth: Floats) -> None:
        self._search, self._found, self._worth = search, found, worth
        group, share, count = found.group, found.share, search.blocks.count
        self._sure = np.bincount(group, weights=share, minlength=count) > 1.0 - SURE
        # shares of a block: free but for the largest one where all sum to 1
        order = np.lexsort((-share, group))
        first = np.zeros(share.size, dtype=np.bool_)
        first[order[np.unique(group[order], return_index=True)[1]]] = True
        self._bound = first & self._sure[group]
        self._free = np.flatnonzero(~self._bound)
        leader = np.full(count, -1, dtype=np.intp)
        leader[group[self._bound]] = np.flatnonzero(self._bound)
        self._leader = leader[group[self._free]]
        self._tops = tops = Tops(search, group, found.price)
        # prices follow from the multipliers, but for draws where the objective bends
        drawn = (np.bincount(group, minlength=count) > 1) | ~self._sure
        self._follow = tops.moves & (search.is_linear | ~drawn[group])
        self._steer = tops.moves & ~self._follow
        self._rows = np.flatnonzero(found.z)
        under = search.values(search.acceptance(found))
        laws = np.flatnonzero((found.weights > 0) | (under <= np.min(under) + TIED * abs(found.upper)))
        self._laws = laws[: laws.size if found.weights.size > 1 else 0]
        self._held, self._tied = search.singles.ties(found.z, found.acceptance)
        steered = group[self._steer]
        parts = (
            np.ones(self._rows.size),
            found.weights[self._laws],
            share[self._free],
            found.acceptance[self._tied],
            np.ones(steered.size),
        )
        self.start = np.concatenate(parts)
        self._ends = np.cumsum([part.size for part in parts])[:-1]
        none = np.full(self.start.size, -1, dtype=np.intp)
        own = (*(none[: part.size] for part in parts[:2]), group[self._free], none[: parts[3].size], steered)
        self._block = np.concatenate(own)
        """The block that an unknown, and the equation of its number, belongs to; −1 for none."""

    def at(self, v: Floats) -> Found:
        """Return the answer."""
        of_rows, of_laws, of_shares, of_ties, of_prices = np.split(v, self._ends)
        found, search = self._found, self._search
        columns = found.z, found.share, found.price, found.acceptance, found.weights
        z, x, p, q, w = (column.copy() for column in columns)
        z[self._rows], w[self._laws] = of_rows * found.z[self._rows], of_laws
        x[self._free] = of_shares
        rest = np.bincount(found.group[self._free], weights=of_shares, minlength=self._sure.size)
        x[self._bound] = 1.0 - rest[found.group[self._bound]]
        q[self._tied] = np.clip(of_ties, 0.0, 1.0)
        p[self._steer] *= np.clip(of_prices, 1.0 - REACH, 1.0 + REACH)
        p = np.clip(p, *self._tops.ends)
        one = dataclasses.replace(found, z=z, price=p, share=x, acceptance=q, held=self._held, weights=w)
        if search.is_linear:
            return dataclasses.replace(one, price=self._tops.at(z, p, self._follow, lambda _: self._worth))
        alone = dataclasses.replace(one, acceptance=search.of_alone(one), held=np.ones_like(self._held))
        followed = self._tops.at(z, p, self._follow, lambda p: search.slopes(dataclasses.replace(alone, price=p)))
        return dataclasses.replace(one, price=followed)

    def residual(self, v: Floats) -> Floats:
        """Return what the equations miss."""
        one, search = self.at(v), self._search
        worth = search.slopes(one)
        if not np.isfinite(worth).all():  # somebody without whom there is no value
            return np.full(v.size, np.inf)
        h = self._tops.gain(one.z, one.price, worth)
        ties = h[self._free] - np.where(self._leader >= 0, h[self._leader], 0.0)
        kept = search.left(one)[self._rows] / search.sizes[self._rows]
        tied, steer = self._tied, self._steer
        of_singles = search.singles.rise(one.z, one.acceptance, tied) if tied.any() else np.zeros(0)
        rise = self._tops.rise(one.z, one.price, worth)[steer] if steer.any() else np.zeros(0)
        alike = np.zeros(0)
        if self._laws.size:
            under = search.values(search.acceptance(one))[self._laws] / search.unit
            if not np.isfinite(under).all():
                return np.full(v.size, np.inf)
            alike = np.append(np.sum(one.weights) - 1.0, under[1:] - under[0])
        return np.concatenate([kept, alike, np.concatenate([ties, of_singles, rise]) / search.unit])

    def jacobian(self, v: Floats, r: Floats) -> sparse.csc_array:
        """Return differences; unknowns of all blocks move at once, one of each.

        They move equations of their own block, and those that sum over blocks, in which each
        block's part is told apart.
        """
        linking, inner = np.flatnonzero(self._block < 0), np.flatnonzero(self._block >= 0)
        none, sums = np.zeros(0, dtype=np.intp), np.flatnonzero(self._block[: self._ends[1]] < 0)
        entries: list[tuple[Indices, Indices, Floats]] = [(none, none, np.zeros(0))]
        for j in linking.tolist():  # to both sides: multipliers of limits that are just met nearly cancel
            up, down = v.copy(), v.copy()
            up[j], down[j] = up[j] + RELATIVE, down[j] - RELATIVE
            entries.append((np.arange(r.size), np.full(r.size, j), 0.5 * (self.residual(up) - self.residual(down))))
        inner = inner[np.argsort(self._block[inner], kind="stable")]
        number = np.arange(inner.size) - np.searchsorted(self._block[inner], self._block[inner])
        before = self._parts(v) if inner.size else np.zeros(0)
        for k in range(int(number.max(initial=-1)) + 1):
            columns, moved = inner[number == k], v.copy()
            moved[columns] += RELATIVE
            of_block = np.full(self._sure.size, -1, dtype=np.intp)
            of_block[self._block[columns]] = columns
            own = np.flatnonzero((self._block >= 0) & (of_block[self._block] >= 0))
            entries.append((own, of_block[self._block[own]], (self.residual(moved) - r)[own]))
            change = (self._parts(moved) - before)[:, self._block[columns]]
            entries.append((np.repeat(sums, columns.size), np.tile(columns, sums.size), change.ravel()))
        rows, columns, change = (np.concatenate(each) for each in zip(*entries, strict=True))
        return sparse.csc_array((change / RELATIVE, (rows, columns)), shape=(r.size, v.size))

    def _parts(self, v: Floats) -> Floats:
        """Return each block's part of the equations of rows and laws; (equations, G)."""
        one, search, count = self.at(v), self._search, self._sure.size
        uses = one.share[:, np.newaxis] * search.blocks.uses(one.group, one.price)[1][:, self._rows]
        kept = [np.bincount(one.group, weights=-each, minlength=count) for each in (uses / search.sizes[self._rows]).T]
        rows = search.blocks.rows
        of = search.blocks.blocks.of_row[rows]
        every = search.terms(search.acceptance(one)) if self._laws.size else []
        under = [np.bincount(of, weights=every[k][rows], minlength=count) / search.unit for k in self._laws]
        alike = [0.0 * under[0], *(each - under[0] for each in under[1:])] if under else []
        return np.array([*kept, *alike]).reshape(-1, count)
