"""Posted prices of blocks, at the tops of what they gain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.numeric import Floats, Indices, Mask
from smqopt.solvers.columns._column_search import ColumnSearch
from smqopt.solvers.columns._draws import BESIDE

REACH = 2.0**-8
"""How far a price may move, relatively."""
_SLOPE = 2.0**-17
"""Of the price, for the bend of what a block gains."""
_STILL, _APART = 2.0**-34, 2.0**-26
"""After a smaller move of a price the next one is within its last bits; the bend is taken anew from
larger ones."""
_INNER = 8
_SETTLES = 2.0**-12
"""Prices so near to an end of a cell, relative to the highest one, may belong there."""


class Tops:
    """Posted prices as functions of the multipliers."""

    def __init__(self, search: ColumnSearch, group: Indices, price: Floats) -> None:
        self._search, self._group = search, group
        self.price = price
        blocks = search.blocks.blocks
        assert blocks is not None  # noqa: S101
        self._blocks = blocks
        self._m = search.statement.weights()
        below = 2.0 * _SLOPE if search.is_linear else BESIDE[0]  # differences go up, those of multipliers down, too
        self.moves = blocks.is_smooth(group, price - below * price, price + 2.0 * _SLOPE * price)
        self.ends = blocks.floor[group], blocks.ceiling[group]
        self.moves &= (price > self.ends[0]) & (price < self.ends[1])

    def gain(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return h of each lot at prices."""
        search = self._search
        taken, p = search.statement.charge(float(z[0]), z[1:])
        node, row, F = self._blocks.acceptance(self._group, price)
        each = self._m[row] * np.where(F > 0, worth[row] - taken[row] - p[row] * price[node], 0.0) * F
        return np.bincount(node, weights=each, minlength=price.size).astype(np.float64)

    def slope(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return h′ of each lot at prices."""
        search = self._search
        taken, p = search.statement.charge(float(z[0]), z[1:])
        (node, row, F), f = self._blocks.acceptance(self._group, price), self._blocks.density(self._group, price)[2]
        f = np.where(np.isfinite(f), f, 0.0)  # prices at jumps stay
        with np.errstate(invalid="ignore"):  # a first acceptance may be worth without bound
            rise = np.where(f > 0, (worth[row] - taken[row] - p[row] * price[node]) * f, 0.0)
        each = self._m[row] * (rise - p[row] * F)
        return np.bincount(node, weights=each, minlength=price.size).astype(np.float64)

    def settle(self, z: Floats, worth: Floats) -> Floats:
        """Return prices, those next to an end of a cell on it where that is no worse."""
        nodes = [self._blocks.nodes[g] for g in self._group.tolist()]
        near = np.array([at[np.argmin(np.abs(at - p))] for at, p in zip(nodes, self.price.tolist(), strict=True)])
        width = np.array([at[-1] for at in nodes])
        better = self.gain(z, near, worth) >= self.gain(z, self.price, worth)
        return np.where((np.abs(near - self.price) <= _SETTLES * width) & better, near, self.price)

    def at(self, z: Floats, price: Floats, moves: Mask, worth_at: Callable[[Floats], Floats]) -> Floats:
        """Return the tops next to prices, of those that move; worths follow from prices."""
        if not moves.any():
            return price
        low, high = (np.clip(price * (1.0 + reach), *self.ends) for reach in (-REACH, REACH))
        step = np.where(moves, _SLOPE * price, 1.0)
        slope = self.slope(z, price, worth_at(price))
        with np.errstate(divide="ignore", invalid="ignore"):
            beside = np.where(moves, price + step, price)
            bend = (self.slope(z, beside, worth_at(beside)) - slope) / step
            for _ in range(_INNER):
                move = np.where(moves & (bend < 0), -slope / bend, 0.0)
                new = np.clip(price + move, low, high)
                move = np.abs(new - price)
                if np.all(move <= _STILL * price):
                    return new
                before, slope = slope, self.slope(z, new, worth_at(new))
                bend = np.where(move > _APART * price, (slope - before) / (new - price), bend)
                price = new
        return price

    def rise(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return what h rises by next to prices; 0 at a top."""
        return 2.0 * _SLOPE * price * self.slope(z, price, worth)
