"""Random prices as a solution holds them, and what they come to for a market."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._worst_case_error import WorstCaseError
from smqopt.market.random_prices._cost_table import CostTable
from smqopt.market.random_prices._menu import Kinds, cdf_at, kinds_of
from smqopt.market.random_prices._rule import OwnersOfRule, Rule, rule_at
from smqopt.numeric import Floats, exact_dot

_EVEN = 2.0**-45
"""Chances so near to each other, relatively, are one."""


@dataclass(frozen=True, eq=False)
class RandomPrices:
    """From which prices owners draw, and with which chances: public.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.ones(100), smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 25.0, objective=smq.WorstCaseError(range=1.0, private=False))
    >>> drawn = solution.random_prices
    >>> if drawn is not None:  # as it is under other objectives
    ...     drawn.prices.shape, drawn.noise_scale
    ((1, 4096), 0.0)
    """

    prices: Floats
    """θ_1 ≤ … ≤ θ_K for each different law of the market, in currency, shape (kinds, K); a shorter
    menu has its highest price again."""
    points: tuple[tuple[float, float, float], ...]
    """Triples of a share, λ and ρ: the price of money and the bias that the chances answer to;
    several are mixed by their shares where owners jump."""
    noise_scale: float
    """b, in units of the answer; 0 where requirements are not kept."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as data."""
        return {
            "prices": self.prices.tolist(),
            "points": [list(point) for point in self.points],
            "noise_scale": self.noise_scale,
        }

    @classmethod
    def from_dict(cls, content: object, where: str) -> RandomPrices:
        """Rebuild the record.

        Raises
        ------
        InputError
            If it is not one.
        """
        remedy = "solve again"
        if not isinstance(content, dict) or set(content) != {"prices", "points", "noise_scale"}:
            raise InputError(where, "must hold prices, points and noise_scale", remedy=remedy)
        try:
            prices = np.array(content["prices"], dtype=np.float64)
            points = np.array(content["points"], dtype=np.float64)
            scale = float(content["noise_scale"])
        except (TypeError, ValueError):
            raise InputError(where, "must hold numbers", remedy=remedy) from None
        good = prices.ndim == points.ndim == 2 and prices.size and points.shape[1] == 3 and points.size
        if not good or not (np.isfinite(prices).all() and np.isfinite(points).all() and math.isfinite(scale)):
            raise InputError(where, "must hold finite numbers, three a point", remedy=remedy)
        return cls(prices, tuple((one[0], one[1], one[2]) for one in points.tolist()), scale)

    def on(self, market: Market, objective: WorstCaseError) -> Chances:
        """Lay the prices out for a market; remembered while the record lives."""
        known = _LAID_OUT.get(self)
        if known is None or known[0] is not market or known[1] is not objective:
            table = chord_table(kinds_of(market), self.prices)
            owners = owners_of(market, objective, self.noise_scale)
            rules = tuple((share, rule_at(table, owners, price, bias)) for share, price, bias in self.points)
            known = (market, objective, Chances(self.prices, table, rules))
            _LAID_OUT[self] = known
        return known[2]


_LAID_OUT: weakref.WeakKeyDictionary[RandomPrices, tuple[Market, WorstCaseError, Chances]] = weakref.WeakKeyDictionary()


def chord_table(kinds: Kinds, prices: Floats) -> CostTable:
    """Return what the chords of C between prices cost: what a rule pays."""
    q = np.array([cdf_at(law, row) for law, row in zip(kinds.laws, prices, strict=True)])
    q = np.maximum.accumulate(q, axis=1)
    start = np.zeros((q.shape[0], 1))
    reached, cost = np.hstack([start, q]), np.hstack([start, q * prices])
    mass = np.diff(reached, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(mass > 0, np.diff(cost, axis=1) / mass, 0.0)
    return CostTable.of(kinds.of_row, slope, reached, cost)


def owners_of(market: Market, objective: WorstCaseError, noise_scale: float) -> OwnersOfRule:
    """Return weights, and what privacy asks of the chances at a scale of noise."""
    w = objective.sizes(market)
    if not objective.private:
        return OwnersOfRule(w, np.zeros(market.n), free=False)
    with np.errstate(divide="ignore"):
        asked = np.divide(w * objective.range, market.epsilon * noise_scale, where=w > 0, out=np.zeros(market.n))
    return OwnersOfRule(w, asked, free=True)


@dataclass(frozen=True, eq=False)
class Chances:
    """Who sells at which report with what chance; columns have shape (n,)."""

    prices: Floats
    table: CostTable
    rules: tuple[tuple[float, Rule], ...]

    def _mix(self, name: str) -> Floats:
        return np.asarray(sum(share * getattr(rule, name) for share, rule in self.rules))

    @property
    def shrinkage(self) -> Floats:
        """The shrinkages s of the rules, mixed."""
        return self._mix("shrinkage")

    @property
    def acceptance(self) -> Floats:
        """E[Q]: the chance that she sells."""
        return np.minimum(self._mix("acceptance"), 1.0)

    @property
    def spend(self) -> Floats:
        """What she is expected to be paid, in currency."""
        return self._mix("spend")

    @property
    def squares(self) -> Floats:
        """E[s²/Q], or a little more where rules are mixed."""
        return self._mix("squares")

    def in_cell(self, rows: NDArray[np.intp], cell: NDArray[np.intp]) -> Floats:
        """Return Q of rows in cells of their menus, from 0."""
        slope = self.table.slope[self.table.of_row[rows], cell]
        mixed = np.asarray(sum(share * rule.chance(rows, slope) for share, rule in self.rules), dtype=np.float64)
        return np.asarray(np.minimum(mixed, 1.0))

    def at_report(self, rows: NDArray[np.intp], reports: Floats) -> Floats:
        """Return Q of rows at their reports; 0 above the highest price."""
        return self.cell_of(rows, reports)[1]

    def cell_of(self, rows: NDArray[np.intp], reports: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Return the cells of reports, the last above the highest price, and Q there."""
        cell = self._cells(rows, lambda k: self.prices[self.table.of_row[rows], k] < reports)
        kept = np.minimum(cell, self.table.cells - 1)
        return kept, np.where(cell < self.table.cells, self.in_cell(rows, kept), 0.0)

    def draw(self, rows: NDArray[np.intp], uniform: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return drawn prices, and who gets an offer at all.

        By numbers uniform on [0, 1): P(T ≥ θ_k) = P(U < Q_k).
        """
        count = self._cells(rows, lambda k: self.in_cell(rows, k) > uniform)
        return self.prices[self.table.of_row[rows], np.maximum(count - 1, 0)], count > 0

    def sure_prices(self) -> Floats:
        """Return the highest price that whoever is offered any is offered at least."""
        rows = np.arange(self.table.of_row.size, dtype=np.intp)
        most = self.in_cell(rows, np.zeros(rows.size, dtype=np.intp)) * (1.0 - _EVEN)
        count = self._cells(rows, lambda k: self.in_cell(rows, k) >= most)
        return self.prices[self.table.of_row[rows], np.maximum(count - 1, 0)]

    def _cells(self, rows: NDArray[np.intp], before: Any) -> NDArray[np.intp]:
        """Count the cells of each row for which something holds that then no longer holds."""
        K = self.table.cells
        low, high = np.zeros(rows.size, dtype=np.intp), np.full(rows.size, K, dtype=np.intp)
        for _ in range(K.bit_length()):
            middle = (low + high) // 2
            open_ = low < high
            holds = open_ & before(np.minimum(middle, K - 1))
            low, high = np.where(holds, middle + 1, low), np.where(open_ & ~holds, middle, high)
        return low

    def error(self, market: Market, objective: WorstCaseError, noise_scale: float) -> float:
        """Return the worst-case error, as the objective counts it: the square."""
        w, m, s = objective.sizes(market), market.weights, self.shrinkage
        bias = exact_dot(m * w, 1.0 - s)
        own = exact_dot(m * w, w * (self.squares - 2.0 * s + 1.0))
        return (objective.range / 2.0) ** 2 * (bias**2 + own) + 2.0 * noise_scale**2
