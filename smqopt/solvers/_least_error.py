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

from smqopt.market import Corner, Market, MeanSquaredError, Solution, Status, least_corner
from smqopt.numeric import ERROR_GAP, FrozenDict, exact_dot

_LEAST = 1e-300
"""Stands for 0 where a logarithm orders shrinkages."""

_MOST_ROUNDS = 200
_SHARE_OF_GAP = 0.25
"""The search ends at this share of the gap that passes."""
_SHARE_KEPT = 0.5
"""Half-planes are left out as long as the gap stays below this share of what passes."""

SolveAt = Callable[[float], Solution]
"""From μ to a solution of OP2 with r(μ) in place of ε."""


@dataclass(frozen=True, eq=False)
class _Plane:
    """A half-plane, and the purchase that touches it."""

    shrinkage: float
    bound: float
    solution: Solution
    error: float

    @property
    def prices(self) -> tuple[float, ...]:
        """μ, the budget price, and the constraints' prices."""
        price = self.solution.budget_price
        return (self.shrinkage, price if price < math.inf else 0.0, *self.solution.constraint_prices.tolist())


def solve_for_error(market: Market, objective: MeanSquaredError, solve_at: SolveAt) -> Solution:
    """Search for the purchase of the least error, and for what bounds the error.

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

    def plane_at(mu: float) -> _Plane:
        found = solve_at(mu)
        aim = objective.with_half_planes(((mu, 0.0),))
        value = exact_dot(aim.utility(market).each, market.weights * found.acceptance)
        price = found.budget_price
        unspent = price * (found.budget - found.total_spend) if 0 < price < math.inf else 0.0
        return _Plane(mu, value + max(unspent, 0.0), found, objective.value(market, found.acceptance))

    def corner_of(planes: list[_Plane]) -> Corner:
        lines = [(one.shrinkage, one.bound) for one in planes]
        return least_corner(lines, objective.sigma2, objective.range, population, exact=False)

    planes = [plane_at(0.0)]
    if planes[0].solution.status is Status.INFEASIBLE:
        return _finish(planes[0], market, objective, planes)
    close = 1.0 - _SHARE_OF_GAP * ERROR_GAP.value
    for _ in range(_MOST_ROUNDS):
        best = min(one.error for one in planes)
        corner = corner_of(planes)
        known = {one.shrinkage for one in planes}
        if not best < math.inf or corner.error >= close * best or corner.shrinkage in known:
            break
        planes.append(plane_at(corner.shrinkage))
    chosen = min(planes, key=lambda one: one.error)
    enough = min(corner_of(planes).error, (1.0 - _SHARE_KEPT * ERROR_GAP.value) * chosen.error)
    rest = [one for one in planes if one is not chosen]
    for one in sorted(rest, key=lambda one: -abs(math.log((one.shrinkage or _LEAST) / (chosen.shrinkage or _LEAST)))):
        fewer = [other for other in rest if other is not one]
        if corner_of([chosen, *fewer]).error >= enough:
            rest = fewer
    return _finish(chosen, market, objective, [chosen, *rest], rounds=len(planes))


def _finish(
    chosen: _Plane, market: Market, objective: MeanSquaredError, planes: list[_Plane], rounds: int = 1
) -> Solution:
    """Return a solution of OP2 at one μ as one of the market itself."""
    found = chosen.solution
    return dataclasses.replace(
        found,
        market=market,
        market_fingerprint=market.fingerprint,
        objective=objective.with_half_planes(tuple(one.prices for one in planes)),
        details=FrozenDict({**found.details, "solves": rounds}),
        raw=None,
    )
