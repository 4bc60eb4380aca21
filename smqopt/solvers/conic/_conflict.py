"""Constraints of a cvxpy program that conflict, each of them needed for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cvxpy as cp

from smqopt.program import Program
from smqopt.solvers._irreducible_subset import BUDGET, irreducible
from smqopt.solvers.conic._attempts import Infeasible, solve_in_attempts


def find_conflict(program: Program, accept_inaccurate: bool, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Name constraints that cannot hold together, and could if any one of them went.

    Parameters
    ----------
    program
        A program that no acceptances satisfy.
    accept_inaccurate, options
        As for `solve_in_attempts`.
    """
    groups: dict[str, list[cp.Constraint]] = {}
    additions = program.additions
    for words, constraint in additions.named:
        groups.setdefault(words, []).append(constraint)
    if BUDGET not in additions.removed:
        groups[BUDGET] = [program.budget_constraint]
    others = [constraint for constraint in additions.own if constraint is not program.budget_constraint]

    def is_feasible(names: Sequence[str]) -> bool:
        return _feasible(program, others, {name: groups[name] for name in names}, accept_inaccurate, options)

    return irreducible(list(groups), is_feasible)


def _feasible(
    program: Program,
    own: list[cp.Constraint],
    groups: Mapping[str, list[cp.Constraint]],
    accept_inaccurate: bool,
    options: Mapping[str, Any],
) -> bool:
    constraints = [constraint for group in groups.values() for constraint in group]
    if BUDGET in groups and program.current_budget() == 0:
        nothing = [program.acceptance == 0, program.spend == 0]
        problem: cp.Problem = cp.Problem(cp.Minimize(0), [*constraints, *nothing])
    else:
        problem = program.feasibility_of([*own, *constraints])
    try:
        solve_in_attempts(problem, accept_inaccurate, options)
    except Infeasible:
        return False
    return True
