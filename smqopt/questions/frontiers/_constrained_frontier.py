"""The frontier of a market with constraints, solved budget by budget."""

from __future__ import annotations

import math

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import Status
from smqopt.numeric import Floats
from smqopt.questions.frontiers._at_budgets import AtBudgets
from smqopt.questions.frontiers._curve import Frontier, Supports

_VERIFIED = "each budget solved and certified; its tangent is the verifier's weak-duality bound"
_UNVERIFIED = "each budget solved; that its thresholds keep the constraints is the solver's word, its tangent the weak-duality bound"


def constrained_frontier(solver: AtBudgets, budgets: Floats, *, verified: bool, with_conflict: bool = True) -> Frontier:
    """Return V(B) at budgets, −∞ where no thresholds satisfy all constraints.

    V is concave where it is finite, and what cannot be paid for at one budget cannot at a smaller
    one. A budget so near the least one that pays for the constraints that the solver cannot tell is
    left undecided.

    Parameters
    ----------
    solver
        The market and its constraints.
    budgets
        B ≥ 0, in currency, shape (p,), increasing.
    verified
        Whether every solution is verified; the bounds are weak duality's in any case.
    with_conflict
        Whether to name constraints that cannot hold together, which takes long.
    """
    rows: list[tuple[float, float, float, float, float]] = []
    statuses: list[Status | None] = []
    named: tuple[str, ...] = ()
    for budget in budgets[::-1].tolist():
        if Status.INFEASIBLE in statuses[-1:]:
            rows.append(_NOTHING)
            statuses.append(Status.INFEASIBLE)
            continue
        try:
            solution = solver.solve(budget, with_conflict=with_conflict)
        except SolverError:
            rows.append((*_NOTHING[:-1], math.inf))
            statuses.append(None)
            continue
        named = solution.conflict
        statuses.append(solution.status)
        if solution.status is Status.INFEASIBLE:
            rows.append(_NOTHING)
            continue
        bounds = solver.verified_bounds(solution) if verified else solver.bounds(solution)
        rows.append((solver.value(solution), solution.budget_price, solution.total_spend, *bounds))
    privacy, prices, spend, lower, upper = np.array(rows[::-1]).T
    held = np.isfinite(upper) & (budgets > 0) & solver.has_tangents
    supports = Supports(budgets[held], prices[held], lower[held], upper[held], starts_at_nothing=False)
    upper = np.where(np.isposinf(upper), supports.bounds(budgets)[1], upper)
    return Frontier(
        budgets,
        np.clip(privacy, lower, upper),
        prices,
        spend,
        lower,
        upper,
        _VERIFIED if verified else _UNVERIFIED,
        supports,
        tuple(statuses[::-1]),
        named,
    )


_NOTHING = (-math.inf, math.inf, math.nan, -math.inf, -math.inf)
