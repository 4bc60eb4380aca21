"""The least mean squared error: OP2 at one μ after the other.

Each μ gives a purchase, and a half-plane X − μY ≤ U(μ) that no purchase and no weights leave. The
next μ is that of the error's level curve through the best corner of their polygon, until the
purchase at hand is as good as the corner (Kelley's cutting planes, on a curve).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from smqopt.market import BEND, BoundingMarket, Corner, Market, MeanSquaredError, Solution, Status, least_corner
from smqopt.numeric import ERROR_GAP, FrozenDict

_LEAST = 1e-300
"""Stands for 0 where a logarithm orders shrinkages."""

_MOST_ROUNDS = 200
_SHARE_OF_GAP = 0.25
"""The search ends at this share of the gap that passes."""
_CLOSE = 1.0 - _SHARE_OF_GAP * ERROR_GAP.value
_SHARE_KEPT = 0.5
"""Half-planes are left out as long as the gap stays below this share of what passes."""

_POSTED = "posted_gap"
"""What an answer of one posted price each says of its distance from the bound."""

SolveAt = Callable[[float], Solution]
"""From μ to a solution of OP2 with r(μ) in place of ε."""


@dataclass(frozen=True)
class _Plane:
    """A half-plane, and the error of the purchase that touches it."""

    bound: float
    error: float
    """At weights min(ε_i, 1/(2μ))."""
    prices: tuple[float, ...]
    """μ, the budget price, and the constraints' prices."""

    @property
    def shrinkage(self) -> float:
        """μ."""
        return self.prices[0]


def solve_for_error(
    market: Market,
    objective: MeanSquaredError,
    solve_at: SolveAt,
    few: tuple[BoundingMarket, SolveAt] | None = None,
) -> Solution:
    """Search for the purchase of the least error, and for what bounds the error.

    Of the purchases that are met the best one alone is kept: a million owners take some 30 MB each.
    Where a market of few rows bounds it, it is searched, and the market itself is solved at the μ
    that was found; where that leaves a gap, the market itself is searched.

    `solve_at` solves OP2 with r(μ) in place of ε, within budget and constraints; `few` holds few
    rows that bound the market, and what solves them.
    """
    whole = _ErrorSearch(market, objective, solve_at)
    if few is not None:
        rough = _ErrorSearch(few[0].market, objective, few[1], objective.owners(market), few[0].shares)
        rough.run()
        if rough.chosen.error < math.inf and rough.is_closed:
            whole.visit(rough.chosen.shrinkage)
            whole.planes += [one for one in rough.planes if one is not rough.chosen]
            if whole.is_closed:
                return whole.finish(len(rough.planes) + 1)
            whole = _ErrorSearch(market, objective, solve_at)
    whole.run()
    return whole.finish(len(whole.planes))


class _ErrorSearch:
    """Half-planes that are known, and the purchase of the least error met."""

    def __init__(
        self,
        market: Market,
        objective: MeanSquaredError,
        solve_at: SolveAt,
        population: int | None = None,
        shares: int = 1,
    ) -> None:
        self._market, self._objective, self._solve_at, self._shares = market, objective, solve_at, shares
        self._bend = 1.0 if shares == 1 else BEND
        self._population = objective.owners(market) if population is None else population
        self.planes: list[_Plane] = []
        self.chosen: _Plane
        self.solution: Solution

    def visit(self, mu: float) -> None:
        """Solve OP2 at one μ."""
        found, epsilon, shares = self._solve_at(mu), self._market.epsilon, self._shares
        copies = self._market.multiplicity
        q, spend = (x if copies is None else x * copies for x in (found.acceptance, found.spend))
        a = np.minimum(epsilon, 0.5 / mu) if mu > 0 else epsilon
        sold = a * q
        X, Y = float(sold.sum()) / shares, float((sold * a).sum()) / shares
        price = found.budget_price if found.budget_price < math.inf else 0.0
        unspent = price * max(found.budget - float(spend.sum()), 0.0)
        bound = max(X - self._bend * mu * Y + unspent / shares, _bound_of_lotteries(found) / shares)
        error = self._objective.error_at(self._population, X, Y)
        plane = _Plane(bound, error, (mu, price, *found.constraint_prices.tolist()))
        if not self.planes or error < self.chosen.error:
            self.chosen, self.solution = plane, found
        self.planes.append(plane)

    def corner(self, planes: Sequence[_Plane]) -> Corner:
        """Return where the error is least over the polygon."""
        lines = [(one.shrinkage, one.bound) for one in planes]
        return least_corner(lines, self._objective.sigma2, self._objective.range, self._population, exact=False)

    @property
    def is_closed(self) -> bool:
        """Whether the purchase is as good as the corner."""
        return self.corner(self.planes).error >= _CLOSE * self.chosen.error

    def run(self) -> None:
        """Cut the best corner off, until the purchase is as good."""
        self.visit(0.0)
        if self.solution.status is Status.INFEASIBLE:
            return
        before = -math.inf
        for _ in range(_MOST_ROUNDS):
            corner = self.corner(self.planes)
            known = {one.shrinkage for one in self.planes}
            if not self.chosen.error < math.inf or self.is_closed or corner.shrinkage in known:
                break
            if _POSTED in self.solution.details and _CLOSE * corner.error <= before:  # a gap stays
                break
            before = corner.error
            self.visit(corner.shrinkage)

    def finish(self, rounds: int) -> Solution:
        """Leave out half-planes that are not needed, and return the solution."""
        chosen, details = self.chosen, {**self.solution.details, "solves": rounds}
        enough = min(self.corner(self.planes).error, (1.0 - _SHARE_KEPT * ERROR_GAP.value) * chosen.error)
        rest = [one for one in self.planes if one.shrinkage != chosen.shrinkage]
        for one in sorted(
            rest, key=lambda one: -abs(math.log((one.shrinkage or _LEAST) / (chosen.shrinkage or _LEAST)))
        ):
            fewer = [other for other in rest if other is not one]
            if self.corner([chosen, *fewer]).error >= enough:
                rest = fewer
        if _POSTED in details:
            lower = self.corner([chosen, *rest]).error
            gap = 1.0 - lower / chosen.error
            details |= {"gap": gap, _POSTED: gap, "lower_bound": lower, "upper_bound": chosen.error}
        return dataclasses.replace(
            self.solution,
            market=self._market,
            market_fingerprint=self._market.fingerprint,
            objective=self._objective.with_half_planes(tuple(one.prices for one in (chosen, *rest))),
            details=FrozenDict(details),
            raw=None,
        )


def _bound_of_lotteries(found: Solution) -> float:
    """Return what bounds OP2 under posted prices; −∞ where there are none."""
    gap = found.details.get(_POSTED)
    if gap is None:
        return -math.inf
    return float(found.details.get("upper_bound", found.objective_value / (1.0 - gap) if gap < 1 else math.inf))
