"""The least worst-case error: prices of money and bias, the scale of the noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError
from smqopt.market import (
    Chances,
    CostTable,
    Market,
    OwnersOfRule,
    RandomPrices,
    Rule,
    Solution,
    Status,
    WorstCaseError,
    chord_table,
    kinds_of,
    menu_prices,
    owners_of,
    rule_at,
    stakes_of,
)
from smqopt.numeric import BUDGET_SHORTFALL, Floats, FrozenDict, largest_within

_ENOUGH, _COARSE = 1e-12, 1e-6
"""How near budget and bias are met, relative: in the end, and while a scale of noise is sought.
Where they jump, both ends are mixed."""
_SLACK = 1e-30
"""A price of money this small, relative to the first guess, is none."""
_LARGEST_RATIO = 1e100
"""Prices of money are squares of such ratios, and doubles."""
_REPRESENTATIVES, _APART = 256, 16
"""Rows on which the scale of the noise is looked for, and every which price."""
_DECADES, _SCALES = 6, 13
_MOST_TRIALS = 16
"""Of scales, once it is known roughly where the best one is (Brent 1973)."""
_ASIDE = 10.0
"""Times `BUDGET_SHORTFALL`: what is kept from the budget, for the rounding of sums over cells."""

Mix = list[tuple[float, float, float]]
"""(share, λ, ρ)."""
Found = tuple[Mix, bool, float]
"""A mix, whether the budget binds, and the error."""


@dataclass(frozen=True, eq=False)
class _AtOneNoise:
    """One market at one scale of noise."""

    table: CostTable
    owners: OwnersOfRule
    count: Floats
    budget: float
    close: float = _ENOUGH
    """Relative: by how much budget and bias may be missed."""

    def total(self, column: Floats) -> float:
        return float(self.count @ column)

    def bias(self, rule: Rule) -> float:
        return self.total(self.owners.weight * (1.0 - rule.shrinkage))

    def at_price(self, price: float) -> tuple[Mix, float, float]:
        """Return the mix that answers to λ, its spend, and its error but for noise."""
        ends = (
            _ends(self._bias_ratio(price), 1.0, self.total(self.owners.weight), self.close)
            if self.owners.free
            else (0.0,)
        )
        rules = [rule_at(self.table, self.owners, price, rho) for rho in ends]
        shares = [1.0]
        if len(ends) == 2:
            below, above = map(self.bias, rules)
            share = min(max((0.5 * sum(ends) - above) / (below - above), 0.0), 1.0) if below > above else 0.0
            shares = [share, 1.0 - share]
        parts = [one for one in zip(shares, ends, rules, strict=True) if one[0] > 0]
        mix = [(share, price, rho) for share, rho, _ in parts]
        spend = sum(share * self.total(rule.spend) for share, _, rule in parts)
        return mix, spend, self._error([(share, rule) for share, _, rule in parts])

    def _bias_ratio(self, price: float) -> Callable[[float], float]:
        """Return how ρ compares with the bias that it leaves: 1 where it is right."""

        def ratio(rho: float) -> float:
            bias = self.bias(rule_at(self.table, self.owners, price, rho))
            return min(rho / bias, _LARGEST_RATIO) if bias > 0 else _LARGEST_RATIO

        return ratio

    def _error(self, rules: list[tuple[float, Rule]]) -> float:
        w = self.owners.weight
        s = sum(part * rule.shrinkage for part, rule in rules)
        squares = sum(part * rule.squares for part, rule in rules)
        return self.total(w * (1.0 - s)) ** 2 + self.total(w * w * (squares - 2.0 * s + 1.0))

    def solve(self) -> tuple[Mix, bool, float]:
        """Return the mix that spends the budget, whether it binds, and its error."""
        w, K = self.owners.weight, self.table.cells
        every = self.total(w * self.table.at(self.table.root, K))
        if every > _LARGEST_RATIO * self.budget:
            raise InputError(
                "solve: argument 'budget'",
                f"is too small: Σ |w| E√J is more than {_LARGEST_RATIO:g} times as much",
                value=self.budget,
                remedy="give a larger budget",
            )
        cheapest = (self.budget / every) ** 2 / _SLACK if every > 0 else 1.0
        mix, spend, error = self.at_price(1.0 / cheapest)
        if spend <= self.budget:
            return mix, False, error

        def spend_at(x: float) -> float:
            return self.at_price(1.0 / x)[1]

        ends = _ends(spend_at, self.budget, cheapest * _SLACK, self.close)
        (under, cheap, error), (over, dear, higher) = (self.at_price(1.0 / x) for x in (ends[0], ends[-1]))
        share = min(max((self.budget - cheap) / (dear - cheap), 0.0), 1.0) if dear > cheap else 0.0
        mix = [(part * of, price, rho) for part, one in ((share, over), (1.0 - share, under)) for of, price, rho in one]
        return [one for one in mix if one[0] > 0], True, share * higher + (1.0 - share) * error


def _ends(rising: Callable[[float], float], target: float, start: float, close: float) -> tuple[float, ...]:
    """Return where a function reaches a target, or both sides of the jump there."""
    found = largest_within(rising, target, start, 1.0, close)
    jumps = found.above <= found.below * (1.0 + 2.0 * close)
    return (found.below, found.above) if jumps else (found.below,)


def solve_worst_case(market: Market, budget: float, objective: WorstCaseError) -> Solution:
    """Search for the random prices of the least worst-case error.

    Where the objective names no scale of noise, one is searched for. Budgets of 0 are refused.
    """
    objective.sizes(market)
    if not budget > 0:
        raise InputError(
            "solve: argument 'budget'",
            "must be > 0: no estimate is free of bias unless every owner may sell",
            value=budget,
            remedy="give a budget, or another objective",
        )
    kinds = kinds_of(market)
    prices = menu_prices(kinds.laws)
    table = chord_table(kinds, prices)
    aim = budget * (1.0 - _ASIDE * BUDGET_SHORTFALL.value)

    def search(of: CostTable, among: OwnersOfRule, count: Floats, scale: float, close: float) -> Found:
        mix, binds, error = _AtOneNoise(of, among, count, aim, close).solve()
        return mix, binds, (objective.range / 2.0) ** 2 * error + 2.0 * scale**2

    scale = objective.noise_scale or 0.0
    if objective.private and not scale:
        scale = _noise_scale(market, objective, table, search)
    every = np.broadcast_to(market.weights, (market.n,))
    mix, binds, _ = search(table, owners_of(market, objective, scale), every, scale, _ENOUGH)
    if binds and not objective.private:  # what is kept holds chances up; else they end where slopes have no bound
        price = sum(share * price for share, price, _ in mix)
        prices = menu_prices(kinds.laws, stakes_of(kinds, objective.sizes(market), every, price))
        table = chord_table(kinds, prices)
        mix, binds, _ = search(table, owners_of(market, objective, scale), every, scale, _ENOUGH)
    drawn = RandomPrices(prices, tuple(mix), scale)
    chances: Chances = drawn.on(market, objective)
    price = sum(share * price for share, price, _ in mix) * (objective.range / 2.0) ** 2 if binds else 0.0
    return Solution(
        market=market,
        budget=budget,
        thresholds=chances.sure_prices(),
        acceptance=chances.acceptance,
        budget_price=price,
        status=Status.BINDING if binds else Status.SLACK,
        solver="dual",
        market_fingerprint=market.fingerprint,
        objective=objective,
        random_prices=drawn,
        details=FrozenDict({"noise_scale": scale}),
    )


def _noise_scale(
    market: Market,
    objective: WorstCaseError,
    table: CostTable,
    search: Callable[[CostTable, OwnersOfRule, Floats, float, float], Found],
) -> float:
    """Look for the scale of the noise that makes the error least, among like rows."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 -- takes a while

    w = objective.sizes(market)
    with np.errstate(divide="ignore"):
        order = np.lexsort((np.divide(w, market.epsilon, out=np.zeros(w.size), where=w > 0), w, table.of_row))
    parts = [part for part in np.array_split(order, _REPRESENTATIVES) if part.size]
    rows = np.array([part[part.size // 2] for part in parts], dtype=np.intp)
    count = np.array([float(np.sum(np.broadcast_to(market.weights, w.shape)[part])) for part in parts])
    ends = np.append(np.arange(0, table.cells, _APART), table.cells)
    reached, cost = table.reached[:, ends], table.cost[:, ends]
    mass = np.diff(reached, axis=1)
    slope = np.divide(np.diff(cost, axis=1), mass, out=np.zeros_like(mass), where=mass > 0)
    few = CostTable.of(table.of_row[rows], slope, reached, cost)

    def error(log_scale: float) -> float:
        scale = math.exp(log_scale)
        every = owners_of(market, objective, scale)
        among = OwnersOfRule(every.weight[rows], every.floor[rows], free=True)
        return search(few, among, count, scale, _COARSE)[2]

    top = math.log(objective.range * float(np.sum(w * market.weights)) / 2.0)
    tried = {x: error(x) for x in np.linspace(top - _DECADES * math.log(10.0), top, _SCALES).tolist()}
    best = min(tried, key=lambda x: tried[x])
    step = _DECADES * math.log(10.0) / (_SCALES - 1)
    within = (best - step, min(best + step, top))
    return math.exp(minimize_scalar(error, bounds=within, method="bounded", options={"maxiter": _MOST_TRIALS}).x)
