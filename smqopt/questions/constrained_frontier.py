"""The frontier of a market with constraints: solved budget by budget, from the largest down to where the constraints cannot be paid for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import SolverError
from smqopt.program.status import Status
from smqopt.questions.at_budgets import AtBudgets
from smqopt.questions.curve import Frontier, Supports

__all__ = ["constrained_frontier"]

Floats = NDArray[np.float64]

_METHOD = "each budget solved and certified; its tangent is the judge's weak-duality bound"


def constrained_frontier(solver: AtBudgets, budgets: Floats) -> Frontier:
    """Give V(B) at budgets, −∞ where no thresholds satisfy all constraints.

    V is concave where it is finite, and what cannot be paid for at one budget cannot at a smaller one. A budget so near the least one that pays for the
    constraints that the solver cannot tell is left undecided.

    Parameters
    ----------
    solver
        The market and its constraints.
    budgets
        B ≥ 0, in currency, shape (p,), increasing.
    """
    rows: list[tuple[float, float, float, float, float]] = []
    statuses: list[Status | None] = []
    blame: tuple[str, ...] = ()
    for budget in budgets[::-1].tolist():
        if blame:
            rows.append(_NOTHING)
            statuses.append(Status.INFEASIBLE)
            continue
        try:
            found = solver.certified(budget)
        except SolverError:
            rows.append((*_NOTHING[:-1], math.inf))
            statuses.append(None)
            continue
        solution, blame = found.solution, found.solution.blame
        statuses.append(solution.status)
        bought, spend = solution.purchased_privacy, solution.total_spend
        feasible = solution.status is not Status.INFEASIBLE
        rows.append(
            (bought, solution.budget_price, spend, found.lower_bound, found.upper_bound) if feasible else _NOTHING
        )
    privacy, prices, spend, lower, upper = np.array(rows[::-1]).T
    held = np.isfinite(upper) & (budgets > 0)
    supports = Supports(budgets[held], prices[held], lower[held], upper[held], starts_at_nothing=False)
    upper = np.where(np.isposinf(upper), supports.bounds(budgets)[1], upper)
    return Frontier(
        budgets,
        np.clip(privacy, lower, upper),
        prices,
        spend,
        lower,
        upper,
        _METHOD,
        supports,
        tuple(statuses[::-1]),
        blame,
    )


_NOTHING = (-math.inf, math.inf, math.nan, -math.inf, -math.inf)
