"""Constraints that an answer keeps only by spending more than its offers cost.

No offers do that.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from smqopt.errors import InputError
from smqopt.market import Solution
from smqopt.numeric import CONIC_FEASIBILITY
from smqopt.program import FLOOR_ON_SPEND, Program, words_of


def require_no_burnt_money(program: Program, solution: Solution) -> None:
    """Refuse an answer that breaks a constraint once spend is what offers cost, C(q).

    In the program spend may exceed C(q) where the budget is not scarce. That does no harm, unless a
    constraint needs it.

    Raises
    ------
    InputError
        Naming the constraint.
    """
    variables = {variable.id for variable in (program.spend,)}
    spending = [
        constraint
        for constraint in program.added
        if isinstance(constraint, cp.Constraint)
        and any(variable.id in variables for variable in constraint.variables())
    ]
    before = [_violation(constraint) for constraint in spending]
    as_solved = program.spend.value
    program.spend.value = solution.spend
    after = [_violation(constraint) for constraint in spending]
    program.spend.value = as_solved
    for constraint, solved, real in zip(spending, before, after, strict=True):
        more = (real - solved) / program.problem.size_of(constraint)
        if not more <= CONIC_FEASIBILITY.value:
            raise InputError(
                f"program: constraint {words_of(constraint)!r}",
                "is met by burning money alone: it breaks where spend is what the offers cost, C(q)",
                value=float(real),
                remedy=FLOOR_ON_SPEND,
            )


def _violation(constraint: cp.Constraint) -> float:
    return float(np.max(constraint.violation(), initial=0.0))
