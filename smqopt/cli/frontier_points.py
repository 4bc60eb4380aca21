"""The frontier of a market: the program solved anew at a range of budgets."""

from __future__ import annotations

import numpy as np

from smqopt.program.solution import Solution
from smqopt.program.status import Status
from smqopt.report.frontier import DrawnFrontier
from smqopt.solvers.solve import solve

__all__ = ["frontier_of"]

_BUDGETS = 40


def frontier_of(solution: Solution) -> DrawnFrontier:
    """Solve at forty budgets up to what buying from everybody costs, closer together where the frontier is steep.

    Parameters
    ----------
    solution
        The solution at the budget in force.
    """
    market = solution.market
    largest = max(market.most_that_can_be_spent, solution.budget)
    budgets = largest * (np.arange(1, _BUDGETS + 1) / _BUDGETS) ** 2
    budgets = budgets[budgets > 0]
    solved = [solve(market, budget, constraints=solution.records) for budget in budgets.tolist()]
    feasible = np.array([one.status is not Status.INFEASIBLE for one in solved])
    budgets, solved = budgets[feasible], [one for one in solved if one.status is not Status.INFEASIBLE]
    return DrawnFrontier(
        budgets=budgets,
        privacy=np.array([one.purchased_privacy for one in solved]),
        prices=np.array([one.budget_price for one in solved]),
        budget=solution.budget,
        reached=solution.purchased_privacy,
        price=solution.budget_price,
    )
