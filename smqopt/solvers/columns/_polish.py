"""Newton steps at the end of a column search.

With the posted prices of blocks p_j(z) at their tops, shares x_j and the answers of the other rows,
the active rows are met and drawn prices tie: as many equations as multipliers and free shares.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from smqopt.numeric import Floats, Indices, Mask
from smqopt.solvers.columns._column_search import ColumnSearch, Found

_STILL = 4e-16
"""A move of a price within its last two bits."""

_STEPS = 6
_RELATIVE = 2.0**-20
"""Of the multipliers, for differences."""
_REACH = 2.0**-8
"""How far a price may move, relatively."""
_SLOPE = 2.0**-17
"""Of the price, for the slope and the bend of what a block gains."""
_INNER = 8
_IDLE = 2.0**-28
"""Prices that use less of every row, and buy less, are not posted."""
_SURE = 2.0**-24
"""Shares of a block that miss 1 by less come to it."""


class _Tops:
    """Posted prices as functions of the multipliers."""

    def __init__(self, search: ColumnSearch, group: Indices, price: Floats) -> None:
        self._search, self._group = search, group
        self.price = price
        blocks = search.blocks.blocks
        assert blocks is not None  # noqa: S101
        self._blocks = blocks
        self._m = search.statement.weights()
        self.moves: Mask = np.array(
            [blocks.lists[g] is None and not _at_a_knot(blocks.terms.knots_of(g), p) for g, p in _pairs(group, price)],
            dtype=np.bool_,
        )
        ends = blocks.floor[group], blocks.ceiling[group]
        self.moves &= (price > ends[0]) & (price < ends[1])

    def gain(self, z: Floats, price: Floats) -> Floats:
        """Return h of each lot at prices."""
        search = self._search
        taken, p = search.statement.charge(float(z[0]), z[1:])
        node, row, F = self._blocks.acceptance(self._group, price)
        each = self._m[row] * (search.slopes[row] - taken[row] - p[row] * price[node]) * F
        return np.bincount(node, weights=each, minlength=price.size).astype(np.float64)

    def at(self, z: Floats) -> Floats:
        """Return the tops next to the prices that are known."""
        price = self.price.copy()
        if not self.moves.any():
            return price
        low, high = price * (1.0 - _REACH), price * (1.0 + _REACH)
        for _ in range(_INNER):
            step = _SLOPE * price
            up, here, down = (self.gain(z, each) for each in (price + step, price, price - step))
            slope, bend = (up - down) / (2.0 * step), (up - 2.0 * here + down) / step**2
            with np.errstate(divide="ignore", invalid="ignore"):
                move = np.where(self.moves & (bend < 0), -slope / bend, 0.0)
            new = np.clip(price + move, low, high)
            if np.all(np.abs(new - price) <= _STILL * price):
                break
            price = new
        return price


def _pairs(group: Indices, price: Floats) -> list[tuple[int, float]]:
    return list(zip(group.tolist(), price.tolist(), strict=True))


def _at_a_knot(knots: Floats, price: float) -> bool:
    return bool(np.any(np.abs(knots - price) <= 2.0 * _SLOPE * price))


def polish(search: ColumnSearch, found: Found) -> Found:
    """Take Newton steps from an answer; return it where they lead nowhere."""
    uses = np.max(np.abs(search.blocks.uses(found.group, found.price)[1]) / search.sizes, axis=1, initial=0.0)
    worth = np.abs(search.blocks.gains(found.group, found.price, search.slopes))
    kept = (uses > _IDLE) | (worth > _IDLE * search.unit)
    group, price, share = found.group[kept], found.price[kept], found.share[kept]
    total = np.bincount(group, weights=share, minlength=search.blocks.count)
    sure = total > 1.0 - _SURE
    # shares of a block: free but for the largest one where all sum to 1
    order = np.lexsort((-share, group))
    first = np.zeros(share.size, dtype=np.bool_)
    first[order[np.unique(group[order], return_index=True)[1]]] = True
    bound = first & sure[group]
    free = np.flatnonzero(~bound)
    leader = np.full(search.blocks.count, -1, dtype=np.intp)
    leader[group[bound]] = np.flatnonzero(bound)
    tops = _Tops(search, group, price)
    rows = np.flatnonzero(found.z)
    if not rows.size:
        return found

    def parts(v: Floats) -> tuple[Floats, Floats, Floats]:
        z, x = found.z.copy(), share.copy()
        z[rows] = v[: rows.size] * found.z[rows]
        x[free] = v[rows.size :]
        rest = np.bincount(group[free], weights=x[free], minlength=sure.size)
        x[bound] = 1.0 - rest[group[bound]]
        return z, x, tops.at(z)

    def residual(v: Floats) -> Floats:
        z, x, p = parts(v)
        h = tops.gain(z, p)
        other = np.where(leader[group[free]] >= 0, h[leader[group[free]]], 0.0)
        return np.append(search.left(z, p, x, group)[rows] / search.sizes[rows], (h[free] - other) / search.unit)

    v = np.append(np.ones(rows.size), share[free])
    r = residual(v)
    for _ in range(_STEPS):
        J = np.empty((r.size, v.size))
        for k in range(v.size):
            w = v.copy()
            w[k] += _RELATIVE
            J[:, k] = (residual(w) - r) / _RELATIVE
        new = v - np.linalg.lstsq(J, r, rcond=None)[0]
        after = residual(new)
        if not np.max(np.abs(after)) < np.max(np.abs(r)):
            break
        v, r = new, after
    z, x, p = parts(v)
    inequality = np.append(True, ~search.statement.equal)
    if np.any(x < 0) or np.any(z[inequality] < 0):
        return found
    better = dataclasses.replace(found, z=z, group=group, price=p, share=x)
    return search.bounds(better)
