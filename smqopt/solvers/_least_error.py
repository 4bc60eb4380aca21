"""The least mean squared error: OP2 at one μ after the other.

Each μ gives a purchase, and a half-plane X − μY ≤ U(μ) that no purchase and no weights leave. The
next μ is that of the error's level curve through the best corner of their polygon, until the
purchase at hand is as good as the corner (Kelley's cutting planes, on a curve).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smqopt.market import Corner, Market, MeanSquaredError, Solution, Status, least_corner
from smqopt.numeric import ERROR_GAP, FrozenDict

_LEAST = 1e-300
"""Stands for 0 where a logarithm orders shrinkages."""

_MOST_ROUNDS = 200
_SHARE_OF_GAP = 0.25
"""The search ends at this share of the gap that passes."""
_SHARE_KEPT = 0.5
"""Half-planes are left out as long as the gap stays below this share of what passes."""

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


def solve_for_error(market: Market, objective: MeanSquaredError, solve_at: SolveAt) -> Solution:
    """Search for the purchase of the least error, and for what bounds the error.

    Of the purchases that are met the best one alone is kept: a million owners take some 30 MB each.

    Parameters
    ----------
    market
        n owners.
    objective
        The error.
    solve_at
        Solves OP2 with r(μ) in place of ε, within budget and constraints.

    Returns
    -------
    Solution
        Of the market, its objective with the half-planes that are needed. Infeasible where OP2 is.
    """
    population = objective.owners(market)

    def plane_at(mu: float) -> tuple[_Plane, Solution]:
        found = solve_at(mu)
        copies = market.multiplicity
        q, spend = (x if copies is None else x * copies for x in (found.acceptance, found.spend))
        a = np.minimum(market.epsilon, 0.5 / mu) if mu > 0 else market.epsilon
        sold = a * q
        X, Y = float(sold.sum()), float(sold @ a)
        price = found.budget_price if found.budget_price < math.inf else 0.0
        unspent = price * max(found.budget - float(spend.sum()), 0.0)
        prices = (mu, price, *found.constraint_prices.tolist())
        return _Plane(X - mu * Y + unspent, objective.error_at(population, X, Y), prices), found

    def corner_of(planes: list[_Plane]) -> Corner:
        lines = [(one.shrinkage, one.bound) for one in planes]
        return least_corner(lines, objective.sigma2, objective.range, population, exact=False)

    chosen, solution = plane_at(0.0)
    planes = [chosen]
    if solution.status is Status.INFEASIBLE:
        return _finish(solution, market, objective, planes)
    close = 1.0 - _SHARE_OF_GAP * ERROR_GAP.value
    for _ in range(_MOST_ROUNDS):
        corner = corner_of(planes)
        known = {one.shrinkage for one in planes}
        if not chosen.error < math.inf or corner.error >= close * chosen.error or corner.shrinkage in known:
            break
        plane, found = plane_at(corner.shrinkage)
        planes.append(plane)
        if plane.error < chosen.error:
            chosen, solution = plane, found
    rounds = len(planes)
    if corner_of(planes).error < close * chosen.error:  # weights at the cap 1/(2μ) are not near enough
        values = {one: objective.value(market, solve_at(one.shrinkage).acceptance) for one in planes}
        best = min(planes, key=values.__getitem__)
        planes = [dataclasses.replace(one, error=values[one]) for one in planes]
        chosen, solution = dataclasses.replace(best, error=values[best]), solve_at(best.shrinkage)
    enough = min(corner_of(planes).error, (1.0 - _SHARE_KEPT * ERROR_GAP.value) * chosen.error)
    rest = [one for one in planes if one.shrinkage != chosen.shrinkage]
    for one in sorted(rest, key=lambda one: -abs(math.log((one.shrinkage or _LEAST) / (chosen.shrinkage or _LEAST)))):
        fewer = [other for other in rest if other is not one]
        if corner_of([chosen, *fewer]).error >= enough:
            rest = fewer
    return _finish(solution, market, objective, [chosen, *rest], rounds=rounds)


def _finish(
    found: Solution, market: Market, objective: MeanSquaredError, planes: list[_Plane], rounds: int = 1
) -> Solution:
    """Return a solution of OP2 at one μ as one of the market itself."""
    return dataclasses.replace(
        found,
        market=market,
        market_fingerprint=market.fingerprint,
        objective=objective.with_half_planes(tuple(one.prices for one in planes)),
        details=FrozenDict({**found.details, "solves": rounds}),
        raw=None,
    )
