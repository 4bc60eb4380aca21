"""E3: the budget is an inequality."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from smqopt.market import Market, Status
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.solvers import solve
from smqopt.valuation import Uniform
from smqopt.verification import verify

BudgetRule = Callable[[float, float], bool]
"""Whether a total spend is feasible for a budget."""


def _trial(feasible: BudgetRule) -> Finding:
    market = Market([0.0, 0.2, 0.5, 1.0], Uniform(0, 1))
    if feasible(3.0, 2.0):
        return Finding(False, "a spend of 3 would be feasible for a budget of 2")
    everything = float(np.sum(market.valuation.high)) * market.n
    if not feasible(everything, everything + 0.5):
        return Finding(
            False, f"no thresholds at all are feasible for B = {everything + 0.5:g} > Σ θ̄_i = {everything:g}"
        )
    budget = 3.5
    solution = solve(market, budget)
    if not feasible(solution.total_spend, budget):
        return Finding(False, f"to spend the last {budget - solution.total_spend:g} of {budget:g} buys no privacy")
    slack = solution.status is Status.SLACK and verify(solution).valid
    return Finding(slack, f"{solution.total_spend:g} of {budget:g} buys all {solution.purchased_privacy:g} of privacy")


BUDGET_EQUALITY: Entry[BudgetRule] = Entry(
    "E3",
    "OP2",
    Claim("the budget holds with equality", operator.eq),
    Claim("≤; equality is infeasible for B > Σ θ̄_i and pointless once every owner with ε_i > 0 is at θ̄_i", operator.le),
    _trial,
)
