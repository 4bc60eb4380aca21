"""The least budget for a given purchased privacy, where constraints must hold too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from smqopt.errors import SolverError
from smqopt.market import ConstraintRecord, Market, Objective, Solution, Status
from smqopt.numeric import GAP, ROUNDING
from smqopt.questions.frontiers._at_budgets import AtBudgets
from smqopt.verification import Certificate, verify

_MOST_SOLVES = 120
_CLOSE = 2.0**-44
"""Two budgets so near, relatively, are one."""
_CLOSE_TO_NONE = 2.0**-24
"""As near as this to a budget at which the constraints cannot hold: nearer, multipliers grow beyond
what can be certified."""
_MOST_SKIPS = 8
"""Budgets without a certificate below which others are tried first."""
_RAISE = 2.0**-50
"""A budget that just falls short is raised by this share of itself: a few roundings."""


@dataclass(frozen=True)
class Enough:
    """A budget that is enough, and one below which none is."""

    status: Status
    lower_bound: float
    certificate: Certificate | None
    """None where no budget is enough."""


def enough_with_constraints(
    market: Market, target: float, constraints: Sequence[ConstraintRecord], objective: Objective | None = None
) -> Enough:
    """Find the least budget at which V(B) ≥ target, by tangents or halves.

    A tangent lies above V, so that it reaches the target at a budget that is too small, or just
    enough: each is a lower bound.

    Parameters
    ----------
    market
        n owners.
    target
        ≥ 0, in units of the objective; no more than it where that is minimised.
    constraints
        Constraint records.
    objective
        As for `AtBudgets`; purchased privacy by default.

    Raises
    ------
    SolverError
        If budgets do not come near enough to each other.
    """
    solver = AtBudgets(market, constraints, objective)
    target *= solver.sign
    high = solver.most
    best = solver.solve(high)
    if best.status is Status.INFEASIBLE:
        return Enough(Status.INFEASIBLE, math.inf, None)
    if solver.value(best) < target:
        return Enough(Status.UNREACHABLE, math.inf, None)
    nothing = solver.solve(0.0, with_conflict=False)  # halves never come to 0
    if nothing.status is not Status.INFEASIBLE and solver.value(nothing) >= target and solver.verify(nothing).valid:
        return Enough(nothing.status, 0.0, verify(nothing))
    low, bound = -1.0, 0.0
    last: Solution | None = best
    upper = of_best = solver.verified_bounds(best)[1]
    step, skips = _RAISE, 0
    failed: float | None = None
    for _ in range(_MOST_SOLVES):
        if last is not None:
            reached = _reached_by_tangent(last, upper, target)
            bound = max(bound, reached if solver.has_tangents else min(reached, last.budget))
        close = _CLOSE_TO_NONE if last is None or last.status is Status.INFEASIBLE else _CLOSE
        close = max(close, _left_open(best, solver.value(best), of_best, target))
        if best.budget - max(low, bound) <= close * best.budget:
            return Enough(best.status, min(bound, best.budget), verify(best))
        budget = _next(last, solver, target, max(low, 0.0), best.budget if failed is None else failed, step)
        last, valid, upper = _try(solver, budget)
        settled = last is not None and (last.status is Status.INFEASIBLE or valid or upper < target)
        failed = None
        if not settled and skips < _MOST_SKIPS:  # it says nothing of smaller budgets
            last, failed, skips = None, budget, skips + 1
            continue
        if last is None:
            low = budget
            continue
        feasible = last.status is not Status.INFEASIBLE
        if feasible and valid and solver.value(last) >= target:
            best, of_best = last, upper
            if budget == 0:
                return Enough(best.status, 0.0, verify(best))
        else:
            low, step = budget, 2.0 * step
            if not feasible or upper < target:
                bound = max(bound, budget)
    raise SolverError(
        "least_budget: the search with constraints",
        f"did not come to an end in {_MOST_SOLVES} solves",
        value=f"between {max(low, bound)!r} and {best.budget!r}",
        remedy="ask for the frontier between the two",
    )


def _left_open(best: Solution, value: float, upper: float, target: float) -> float:
    """Return how near budgets may be, where the target is just met.

    What a certificate leaves open no smaller budget settles.
    """
    return GAP.value if best.status is Status.BINDING and value - target <= upper - value else 0.0


def _try(solver: AtBudgets, budget: float) -> tuple[Solution | None, bool, float]:
    """Return a solution, whether it is certified, and an upper bound.

    None next to the least budget that satisfies the constraints, or by a fault of a solver.
    """
    try:
        found = solver.solve(budget, with_conflict=False)
    except SolverError:
        return None, False, math.inf
    return found, solver.verify(found).valid, solver.verified_bounds(found)[1]


def _next(last: Solution | None, solver: AtBudgets, target: float, low: float, high: float, step: float) -> float:
    """Return a budget between two, by the last tangent or half way."""
    if last is not None and last.status is Status.BINDING:
        short = (target - solver.value(last)) / last.budget_price
        budget = last.budget + short + (step * last.budget if short > 0 else 0.0)
        if low < budget < high:
            return budget
    return 0.5 * (low + high)


def _reached_by_tangent(solution: Solution, upper: float, target: float) -> float:
    """Return the budget at which a tangent reaches the target, rounded down.

    0 where it says nothing.
    """
    if solution.status is not Status.BINDING or not math.isfinite(upper):
        return 0.0
    price = solution.budget_price
    budget = solution.budget + (target - upper) / price
    return max(0.0, budget - ROUNDING.value * (solution.budget + (abs(target) + abs(upper)) / price))
