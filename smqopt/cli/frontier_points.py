"""The frontier of a market: the program solved anew at a range of budgets."""

from __future__ import annotations

import numpy as np

from smqopt.program.solution import Solution
from smqopt.report.frontier import Frontier
from smqopt.solvers.solve import solve

__all__ = ["frontier_of"]

_BUDGETS = 40


def frontier_of(solution: Solution) -> Frontier:
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
    solved = [solve(market, budget) for budget in budgets.tolist()]
    return Frontier(
        budgets=budgets,
        privacy=np.array([one.purchased_privacy for one in solved]),
        prices=np.array([one.budget_price for one in solved]),
        budget=solution.budget,
        reached=solution.purchased_privacy,
        price=solution.budget_price,
    )
