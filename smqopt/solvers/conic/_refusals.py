"""What a conic solver calls optimal and no program takes for an answer."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from smqopt.errors import InputError, SolverError
from smqopt.market import Solution
from smqopt.numeric import CONIC_FEASIBILITY, Floats
from smqopt.program import FLOOR_ON_SPEND, Program, words_of


def checked_acceptance(program: Program) -> Floats:
    """Clip the solver's acceptances to [0, 1]; refuse what is further off."""
    q = np.asarray(program.acceptance.value, dtype=np.float64)
    outside = float(np.max(np.maximum(-q, q - 1.0)))
    if not outside <= CONIC_FEASIBILITY.value:
        raise SolverError(
            "conic solver",
            "calls optimal an acceptance outside [0, 1]",
            value=outside,
            remedy="scale the added constraints",
        )
    surely = program.statement.expand(program.statement.lowest) >= 1
    return np.where(surely, 1.0, np.clip(q, 0.0, 1.0))


def require_within_budget(solution: Solution) -> None:
    """Refuse thresholds that cost more than the budget."""
    if not solution.total_spend <= solution.budget * (1.0 + CONIC_FEASIBILITY.value):
        raise SolverError(
            "conic solver",
            f"calls optimal thresholds that spend more than the budget {solution.budget!r}",
            value=solution.total_spend,
            remedy="scale the added constraints, or use the dual solver",
        )


def require_no_burnt_money(program: Program, solution: Solution) -> None:
    """Refuse an answer that breaks a constraint once spend is what offers cost, C(q).

    In the program spend may exceed C(q) where the budget is not scarce. That does no harm, unless a
    constraint needs it.
    """
    as_solved = program.spend.value
    for constraint in program.added:
        if not isinstance(constraint, cp.Constraint) or all(one is not program.spend for one in constraint.variables()):
            continue
        solved = _violation(constraint)
        program.spend.value = solution.spend
        real = _violation(constraint)
        program.spend.value = as_solved
        if not (real - solved) / program.problem.size_of(constraint) <= CONIC_FEASIBILITY.value:
            rule = "is met by burning money alone: it breaks where spend is what the offers cost, C(q)"
            raise asks_for_spend(words_of(constraint), rule, real)


def asks_for_spend(words: str, rule: str = "", value: float | None = None) -> InputError:
    """Return the refusal of a constraint that a higher posted price would keep."""
    rule = rule or "asks for more spend, which the conic solver would meet by burning money"
    return InputError(f"program: constraint {words!r}", rule, value=value, remedy=FLOOR_ON_SPEND)


def _violation(constraint: cp.Constraint) -> float:
    return float(np.max(constraint.violation(), initial=0.0))
