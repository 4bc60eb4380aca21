"""Constraints of a cvxpy program that conflict, each of them needed for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cvxpy as cp

from smqopt.market import BUDGET_WORDS
from smqopt.numeric import irreducible
from smqopt.program import Entry, Program
from smqopt.solvers.conic._attempts import Infeasible, solve_in_attempts


def find_conflict(program: Program, accept_inaccurate: bool, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Name constraints that cannot hold together, and could if any one of them went."""
    groups: dict[str, list[Entry]] = {}
    for words, constraint in program.named:
        groups.setdefault(words, []).append(constraint)
    if BUDGET_WORDS not in program.removed:
        groups[BUDGET_WORDS] = [program.budget_constraint]
    apart = {id(constraint) for group in groups.values() for constraint in group}
    own = [constraint for constraint in program.entries() if id(constraint) not in apart]

    def is_feasible(names: Sequence[str]) -> bool:
        constraints = [constraint for name in names for constraint in groups[name]]
        problem: cp.Problem = program.feasibility_of([*own, *constraints])
        if BUDGET_WORDS in names and program.current_budget() == 0:
            nothing = [program.acceptance == 0, program.spend == 0]
            problem = cp.Problem(cp.Minimize(0), [*constraints, *nothing])
        try:
            solve_in_attempts(problem, accept_inaccurate, options)
        except Infeasible:
            return False
        return True

    return irreducible(list(groups), is_feasible)
