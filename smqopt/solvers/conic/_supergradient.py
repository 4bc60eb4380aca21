"""The objective of a solved program as a record.

Its own, or for one stated in cvxpy its value and the plane that the conic dual puts above it.

The solver saw V(u) with a copy u of acceptance and the tie u = q, whose multiplier ν is a
supergradient at the optimum, whether V is smooth or not. For every ν, V(q) ≤ ν·q + max {V(u) − ν·u:
0 ≤ u ≤ 1}; the maximum is found by the conic solver too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import cvxpy as cp
import numpy as np

from smqopt.market import InCvxpy, Objective, Solution
from smqopt.numeric import Floats
from smqopt.program import Program, shortened_text
from smqopt.solvers.conic._attempts import solve_in_attempts


def objective_at(program: Program, acceptance: Floats) -> float:
    """Return the program's objective at acceptances, in its own direction.

    ±∞ where it has no finite value.
    """
    at = {id(program.acceptance): cp.Constant(acceptance)}
    with np.errstate(divide="ignore", invalid="ignore"):
        value = program.objective.args[0].tree_copy(at).value
    worst = -np.inf if isinstance(program.objective, cp.Maximize) else np.inf
    return worst if value is None or np.isnan(value) else float(value)


def recorded_objective(
    program: Program, acceptance: Floats, accept_inaccurate: bool, options: Mapping[str, Any]
) -> Objective:
    """Return the record of what a program maximises, with offers of these acceptances."""
    if program.objective_record is not None:
        return program.objective_record
    aim = program.objective
    sign = 1.0 if isinstance(aim, cp.Maximize) else -1.0
    slope = program.problem.supergradient()
    total = objective_at(program, acceptance)
    u, unit = cp.Variable(acceptance.size), program.problem.objective_unit
    utility = sign * aim.args[0].tree_copy({id(program.acceptance): u})
    above = cp.Problem(cp.Maximize((utility - slope @ u) / unit), [u >= 0, u <= 1])
    solve_in_attempts(above, accept_inaccurate, options)
    return InCvxpy(
        text=shortened_text(aim.args[0]),
        total=total,
        height=max(float(above.value) * unit, sign * total - float(slope @ acceptance)),
        slope=tuple(slope.tolist()),
        minimised=sign < 0,
    )


def revalue(program: Program, better: Solution) -> Solution:
    """Return offers with the value of an objective in cvxpy there."""
    aim = better.objective
    if not isinstance(aim, InCvxpy):
        return better
    total = objective_at(program, better.acceptance)
    least = (-total if aim.minimised else total) - float(np.dot(aim.slope, better.acceptance))
    seen = dataclasses.replace(aim, total=total, height=max(aim.height, least))  # no plane lies below what it bounds
    return dataclasses.replace(better, objective=seen)


def upward_value(one: Solution) -> float:
    """Return the value of the objective, negated where it is minimised in cvxpy."""
    minimised = isinstance(one.objective, InCvxpy) and one.objective.minimised
    return -one.objective_value if minimised else one.objective_value
