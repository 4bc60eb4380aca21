"""The columns of rows on their own: acceptances at their least cost."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from smqopt.market import Linear, Offers, Statement, Utility, price_floors
from smqopt.numeric import Floats, Indices, Mask
from smqopt.solvers.structured._dual import Dual, DualPoint
from smqopt.solvers.structured._primal_recovery import recover
from smqopt.solvers.structured._response import Owners
from smqopt.valuation import PriceListed, Valuation

_EVEN, _LEAST = 8, 6
"""Even steps at the start; and how many powers of them where no offer has no value."""
_GRID = 64
"""Even steps of acceptance among the prices of which one is posted."""
_INSIDE, _OFF = 2.0**-16, 2.0**-10
"""How far inside her bounds, of their width, and how far off her answer a row ties."""
_TIED = 2.0**-20
"""Flat pieces whose slope is this near to a row's price are taken from end to end."""


class SingleColumns:
    """Acceptances of n″ rows.

    Those of a statement that are in no block.
    """

    def __init__(self, statement: Statement, utility: Utility, budget: float) -> None:
        blocks = statement.blocks
        self.rows = np.arange(statement.reduced.n) if blocks is None else np.flatnonzero(blocks.of_row < 0)
        self._limits = np.append(budget, statement.at_most)
        self._layers = np.zeros((0, self.rows.size))
        self._scale = 1.0
        self.row = np.zeros(0, dtype=np.intp)
        """The place of each column's row among the rows on their own."""
        self.acceptance = np.zeros(0)
        if not self.rows.size:
            return
        self.utility = utility.take(self.rows)
        self._needed = bool(np.any(self.utility.needed))
        self.limit(statement, budget)
        self._A, self._S = (sparse.csc_array(each) for each in (self.dual.A, self.dual.S))

    def limit(self, statement: Statement, budget: float) -> None:
        """Keep the columns under other limits of budget and rows."""
        self._limits = np.append(budget, statement.at_most)
        if not self.rows.size:
            return
        self.statement = statement if statement.blocks is None else statement.take(self.rows)
        self._budget = budget
        self.dual = Dual(Owners(self.statement, self.utility), budget)
        self._worthless = Dual(Owners(self.statement, Linear(np.zeros(self.rows.size))), budget)

    def first(self, sizes: Floats) -> list[Floats]:
        """Return acceptances to begin with, small ones where money is short."""
        if not self.rows.size:
            return []
        low, high = self.statement.lowest, self.statement.highest
        shares = [k / _EVEN for k in range(_EVEN + 1)]
        short = float(np.sum(self.dual.m * self.statement.reduced.high)) / sizes[0]
        self._scale = 1.0 / np.sqrt(max(short, 1.0))
        small = int(np.ceil(np.log(max(short, 1.0)) / np.log(_EVEN)))
        shares += [_EVEN**-k for k in range(2, 2 + max(small, _LEAST if self._needed else 0))]
        return [low + (high - low) * share for share in shares]

    def at(self, z: Floats, *, worthless: bool = False) -> DualPoint | None:
        """Return the answers to multipliers; `worthless` if acceptances are worth nothing.

        None where there are no rows on their own.
        """
        if not self.rows.size:
            return None
        return (self._worthless if worthless else self.dual).at(z)

    def around(self, point: DualPoint, q: Floats, near: float) -> list[Floats]:
        """Return new acceptances: answers, mixtures, ends of pieces, neighbours."""
        answer, near = point.answer.acceptance, near * self._scale
        layers = [
            answer,
            q,
            *([0.25 * q] if self._needed else []),
            *(q + step for step in (-near, near, -0.25 * near, 0.25 * near)),
        ]
        if self.dual.owners.jumps:
            tied = self.dual.owners.between(point.answer.v / (1.0 + _TIED), point.answer.v / (1.0 - _TIED))
            for on in (tied, *self.dual.owners.pieces(q)):
                for end in (on.low_acceptance, on.high_acceptance):
                    layer = q.copy()
                    layer[on.owner] = end
                    layers.append(layer)
        return layers

    def add(self, layers: list[Floats], apart: float) -> tuple[Indices, Floats, sparse.csc_array]:
        """Take new acceptances in; return their rows, values and usages.

        Those nearer than `apart` to known ones are left out.
        """
        rows, values = list[Indices](), list[Floats]()
        for layer in layers:
            q = np.clip(layer, self.statement.lowest, self.statement.highest)
            distance = np.abs(self._layers - q)
            known = (
                np.nanmin(distance, axis=0, initial=np.inf) <= apart * self._scale
                if distance.size
                else np.zeros(q.size, bool)
            )
            ends = (q == self.statement.lowest) | (q == self.statement.highest)
            known = np.where(ends & known, np.any(distance == 0, axis=0) if distance.size else False, known)
            new = np.flatnonzero(~known & np.isfinite(self.utility.value(q)))
            if new.size:
                self._layers = np.vstack([self._layers, np.where(np.isin(np.arange(q.size), new), q, np.nan)])
                rows.append(new)
                values.append(q)
        if not rows:
            return np.zeros(0, dtype=np.intp), np.zeros(0), sparse.csc_array((self._limits.size, 0))
        row = np.concatenate(rows)
        q = np.concatenate([layer[new] for layer, new in zip(values, rows, strict=True)])
        cost = np.concatenate([self.dual.owners.cost(layer)[new] for layer, new in zip(values, rows, strict=True)])
        worth = np.concatenate([self.utility.value(layer)[new] for layer, new in zip(values, rows, strict=True)])
        usage = self._usage(row, q, cost)
        self.row, self.acceptance = np.append(self.row, row), np.append(self.acceptance, q)
        return row, self.dual.m[row] * worth, usage

    def offers(self, z: Floats, q: Floats, usage: Floats) -> Offers:
        """Return offers near acceptances that meet what others leave of rows."""
        if not self.rows.size:
            return Offers(np.zeros(0), np.zeros(0))
        left = dataclasses.replace(self.statement, at_most=self.statement.at_most - usage[1:])
        dual = Dual(Owners(left, self.utility), self._budget - usage[0])
        return recover(dual, dual.at(z), q)

    def uses(self, q: Floats) -> Floats:
        """Return what acceptances use of the budget and the rows; shape (k + 1,)."""
        if not self.rows.size:
            return np.zeros(self._limits.size)
        return np.asarray(self.dual.r - self.dual.left(q, self.dual.owners.cost(q)))

    def ties(self, z: Floats, q: Floats) -> tuple[Mask, Mask]:
        """Say who is off her answer, and which of them not at an end; (n″,) each.

        Who costs nothing and is worth what the rows take has any answer, and counts as off hers.
        """
        point = self.at(z)
        if point is None:
            return np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.bool_)
        low, high = self.statement.lowest, self.statement.highest
        taken = (self._A.T @ z[1:]) / self.dual.m
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            worth = self.utility.slope(q)
            either = (point.price <= 0) & (np.abs(worth - taken) <= _TIED * np.abs(worth))
        off = either | (np.abs(q - point.answer.acceptance) > _OFF)
        inside = (q > low + _INSIDE * (high - low)) & (q < high - _INSIDE * (high - low))
        return off, off & inside

    def rise(self, z: Floats, q: Floats, rows: Mask) -> Floats:
        """Return what some rows gain by one more acceptance each, near q; NaN at its ends."""
        point = self.at(z)
        assert point is not None  # noqa: S101
        step = np.where(rows, _INSIDE, 0.0) * np.minimum(q, 1.0 - q)
        width = np.where(rows, 2.0 * step, 1.0)
        with np.errstate(invalid="ignore"):
            slope = (self.dual.owners.cost(q + step) - self.dual.owners.cost(q - step)) / width
        taken = (self._A.T @ z[1:]) / self.dual.m
        return np.asarray((self.utility.slope(q) - taken - point.price * slope)[rows])

    @property
    def listed(self) -> Mask:
        """Whose prices, or acceptances that they have, all stand on a list; (n″,)."""
        found = np.zeros(self.rows.size, dtype=np.bool_)
        for law, index in self.statement.reduced.valuation.parts() if self.rows.size else ():
            found[index] = _list_of(law) is not None
        return found

    def post(self) -> tuple[Indices, Floats, sparse.csc_array]:
        """Return one posted price each, known ones, listed ones and even ones.

        Rows, acceptances and usages; arrays of one length.
        """
        if not self.rows.size:
            return np.zeros(0, dtype=np.intp), np.zeros(0), sparse.csc_array((self._limits.size, 0))
        law, n = self.statement.reduced.valuation, self.rows.size
        layers, even = [*self._layers], np.ones(n)
        for part, index in law.parts():
            prices = _list_of(part)
            even[index] = prices is None
            for price in () if prices is None else prices:
                layer = np.full(n, np.nan)
                layer[index] = part.cdf(np.full(layer[index].size, price))
                layers.append(layer)
        floor = price_floors(law, n)
        least = np.where(floor > 0, law.cdf(floor), 0.0)
        q = np.nan_to_num(np.array([*layers, least, *(even * (k / _GRID) for k in range(_GRID + 1))]))
        q = np.where(q >= least, q, 0.0)  # below a floor there are lotteries alone
        price = np.array([np.maximum(law.ppf(layer), floor) for layer in q])
        q = np.where(q > 0, np.array([law.cdf(theta) for theta in price]), 0.0)
        pairs = np.unique(np.column_stack([np.tile(np.arange(n), len(q)), q.ravel(), price.ravel()]), axis=0)
        row, q, price = pairs[:, 0].astype(np.intp), pairs[:, 1], np.where(pairs[:, 1] > 0, pairs[:, 2], 0.0)
        within = (q >= self.statement.lowest[row]) & (q <= self.statement.highest[row])
        row, q, cost = row[within], q[within], (price * q)[within]
        return row, q, self._usage(row, q, cost)

    def _usage(self, row: Indices, q: Floats, cost: Floats) -> sparse.csc_array:
        of_rows = self._A[:, row].multiply(q[np.newaxis, :]) + self._S[:, row].multiply(cost[np.newaxis, :])
        return sparse.csc_array(sparse.vstack([sparse.csr_array((self.dual.m[row] * cost)[np.newaxis, :]), of_rows]))

    def mixture(self, share: Floats) -> Floats:
        """Return the acceptances that shares of the columns come to; shape (n″,)."""
        n = self.rows.size
        if not n:
            return np.zeros(0)
        total = np.maximum(np.bincount(self.row, weights=share, minlength=n), np.finfo(float).tiny)
        q = np.bincount(self.row, weights=share * self.acceptance, minlength=n) / total
        return np.clip(q, self.statement.lowest, self.statement.highest)


def _list_of(law: Valuation) -> Floats | None:
    """Return the prices between which no acceptance lies; None where there are others."""
    return law.prices if isinstance(law, PriceListed) else getattr(law, "values", None)
