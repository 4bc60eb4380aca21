"""The price at which the weak-duality bound is least, asked of no solver."""

from __future__ import annotations

import dataclasses
import math

from smqopt.market import Market, PurchasedPrivacy, Solution, Status
from smqopt.verification.checks._weak_duality import spend_at_price, upper_bound

_MOST_STEPS = 128
"""Of a bisection in log λ: more than doubles need."""
_LARGEST_STEP = 2.0**16
_LEAST = 2.0**-1000
"""The first price that is tried lies between this and its inverse."""


def best_price(market: Market, budget: float) -> float:
    """Return a λ whose bound λB + Σ max {ε q − λ C̄(q)} is least, to rounding.

    The bound is convex in λ with slope B − spend(λ), and spend does not rise with λ, so its least
    value is where spend passes the budget: found by steps that double, and bisection. Any price
    gives a bound that holds; this one gives the best.
    """
    price = min(max(float(market.epsilon.max()) / budget, _LEAST), 1.0 / _LEAST)
    factor = 2.0
    if spend_at_price(market, price) > budget:
        low, high = price, price * factor
        while high < math.inf and spend_at_price(market, high) > budget:
            factor = min(factor * factor, _LARGEST_STEP)
            low, high = high, high * factor
    else:
        low, high = price / factor, price
        while low > 0 and spend_at_price(market, low) <= budget:  # at a budget that is slack to rounding, down to 0
            factor = min(factor * factor, _LARGEST_STEP)
            low, high = low / factor, low
    for _ in range(_MOST_STEPS):
        middle = math.sqrt(low) * math.sqrt(high)
        if not low < middle < high:
            break
        low, high = (middle, high) if spend_at_price(market, middle) > budget else (low, middle)
    return min((low, high), key=lambda end: upper_bound(market, budget, end))


def with_price(solution: Solution) -> Solution:
    """Fill in the best price where a solution of OP2 claims none; leave all others."""
    known = {Status.ZERO_BUDGET: math.inf, Status.SLACK: 0.0, Status.BINDING: math.nan}
    plain = not solution.constraints and isinstance(solution.objective, PurchasedPrivacy)
    claims = solution.claims_response or not math.isnan(solution.budget_price)
    if claims or not plain or solution.status not in known:
        return solution
    price = known[solution.status]
    if math.isnan(price):
        price = best_price(solution.market, solution.budget)
    return dataclasses.replace(solution, budget_price=price)
