"""Newton steps at the end of a column search.

With the posted prices of blocks p_j(z) at their tops, shares x_j and the answers of the other rows,
the active rows are met and drawn prices tie: as many equations as multipliers and free shares.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from smqopt.numeric import Floats, Indices, Mask
from smqopt.solvers.columns._column_search import ColumnSearch, Found

_STEPS = 6
_RELATIVE = 2.0**-20
"""Of the multipliers, for differences."""
_REACH = 2.0**-8
"""How far a price may move, relatively."""
_SLOPE = 2.0**-17
"""Of the price, for the slope of what a block gains."""
_SETTLES = 2.0**-12
"""Prices so near to an end of a cell, relative to the highest one, may belong there."""
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

    def gain(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return h of each lot at prices."""
        search = self._search
        taken, p = search.statement.charge(float(z[0]), z[1:])
        node, row, F = self._blocks.acceptance(self._group, price)
        each = self._m[row] * (worth[row] - taken[row] - p[row] * price[node]) * F
        return np.bincount(node, weights=each, minlength=price.size).astype(np.float64)

    def settle(self, z: Floats, worth: Floats) -> Floats:
        """Return prices, those next to an end of a cell on it where that is no worse."""
        nodes = [self._blocks.nodes[g] for g in self._group.tolist()]
        near = np.array([at[np.argmin(np.abs(at - p))] for at, p in zip(nodes, self.price.tolist(), strict=True)])
        width = np.array([at[-1] for at in nodes])
        better = self.gain(z, near, worth) >= self.gain(z, self.price, worth)
        return np.where((np.abs(near - self.price) <= _SETTLES * width) & better, near, self.price)

    def rise(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return what h rises by over prices that may move; 0 at a top."""
        step = _SLOPE * price
        rise = self.gain(z, price + step, worth) - self.gain(z, price - step, worth)
        return np.asarray(rise[self.moves])


def _pairs(group: Indices, price: Floats) -> list[tuple[int, float]]:
    return list(zip(group.tolist(), price.tolist(), strict=True))


def _at_a_knot(knots: Floats, price: float) -> bool:
    return bool(np.any(np.abs(knots - price) <= 2.0 * _SLOPE * price))


def _join_hills(search: ColumnSearch, found: Found, worth: Floats, kept: Mask) -> tuple[Indices, Floats, Floats]:
    """Return lots with neighbours on two sides of one top as one.

    There is no valley between them.
    """
    order = np.flatnonzero(kept)[np.lexsort((found.price[kept], found.group[kept]))]
    group, price, share = found.group[order], found.price[order], found.share[order]
    blocks = search.blocks.blocks
    while True:
        middle = 0.5 * (price[1:] + price[:-1])
        between, here = (
            _Tops(search, *lots).gain(found.z, lots[1], worth) for lots in ((group[1:], middle), (group, price))
        )
        one = (group[1:] == group[:-1]) & (between >= np.minimum(here[1:], here[:-1]))
        for k in np.flatnonzero(one).tolist():
            g = int(group[k])
            knots = blocks.terms.knots_of(g)
            one[k] = blocks.lists[g] is None and not np.any((knots >= price[k]) & (knots <= price[k + 1]))
        if not one.any():
            return group, price, share
        k = int(np.argmax(one))
        total = share[k] + share[k + 1]
        price[k] = (share[k] * price[k] + share[k + 1] * price[k + 1]) / total
        share[k] = total
        rest = np.arange(group.size) != k + 1
        group, price, share = group[rest], price[rest], share[rest]


def polish(search: ColumnSearch, found: Found) -> Found:
    """Take Newton steps from an answer; return it where they lead nowhere."""
    worth = search.slopes(found.z, found.group, found.price, found.share)
    uses = np.max(np.abs(search.blocks.uses(found.group, found.price)[1]) / search.sizes, axis=1, initial=0.0)
    kept = (uses > _IDLE) | (np.abs(search.blocks.gains(found.group, found.price, worth)) > _IDLE * search.unit)
    group, price, share = _join_hills(search, found, worth, kept)
    price = _Tops(search, group, price).settle(found.z, worth)
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
        z, x, p = found.z.copy(), share.copy(), price.copy()
        z[rows] = v[: rows.size] * found.z[rows]
        x[free] = v[rows.size : rows.size + free.size]
        rest = np.bincount(group[free], weights=x[free], minlength=sure.size)
        x[bound] = 1.0 - rest[group[bound]]
        p[tops.moves] *= np.clip(v[rows.size + free.size :], 1.0 - _REACH, 1.0 + _REACH)
        return z, x, p

    def residual(v: Floats) -> Floats:
        z, x, p = parts(v)
        worth = search.slopes(z, group, p, x)
        h = tops.gain(z, p, worth)
        other = np.where(leader[group[free]] >= 0, h[leader[group[free]]], 0.0)
        kept = search.left(z, p, x, group)[rows] / search.sizes[rows]
        return np.concatenate([kept, (h[free] - other) / search.unit, tops.rise(z, p, worth) / search.unit])

    v = np.concatenate([np.ones(rows.size), share[free], np.ones(int(tops.moves.sum()))])
    r = residual(v)
    for _ in range(_STEPS):
        J = np.empty((r.size, v.size))
        for k in range(v.size):
            w = v.copy()
            w[k] += _RELATIVE
            J[:, k] = (residual(w) - r) / _RELATIVE
        if not np.isfinite(J).all():
            break
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
