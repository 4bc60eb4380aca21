"""Polishing: from a conic solver's multipliers to thresholds of full accuracy.

A conic answer has about six digits of acceptance, and its multipliers err little more. They are a
start a few steps away from the multipliers at which all rows are met, and those give every owner
her threshold by her own law: J(θ) = e/p, with her reduced requirement and price.

Of an objective that was stated in cvxpy the plane of its dual is polished in its place. Where cost
curves are strictly convex the best offers for the plane are the optimum itself, and they keep all
constraints to the last digits; where they are straight the plane does not tell one offer from
another.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import ConstraintRecord, InCvxpy, Solution, Status, state
from smqopt.numeric import CONIC_FEASIBILITY, FrozenDict
from smqopt.program import Program
from smqopt.solvers.conic._supergradient import is_worse, revalue
from smqopt.solvers.price_search._concave import solve_concave
from smqopt.solvers.structured._structured_route import solve_statement


def polish(program: Program, raw: Solution) -> Solution:
    """Polish a conic answer where all that was added is linear.

    The raw one goes with it.

    Parameters
    ----------
    program
        The program that was solved.
    raw
        Its conic answer, with records of what is linear, and multipliers.
    """
    if program.removed or raw.status not in (Status.BINDING, Status.SLACK):
        return raw
    try:
        better = _from_multipliers(program, raw)
    except SolverError as error:  # what the conic solver found still stands
        return _with_details(raw, {"polished": False, "why_not": str(error)})
    if better.status is not raw.status:
        return _with_details(raw, {"polished": False, "why_not": f"polishing ends with {better.status.name}"})
    valued = revalue(program, better)
    keeps = not raw.records and raw.total_spend <= raw.budget
    if isinstance(raw.objective, InCvxpy) and is_worse(valued, raw, 0.0 if keeps else CONIC_FEASIBILITY.value):
        return _with_details(raw, {"polished": False, "why_not": "the plane does not tell one offer from another"})
    return dataclasses.replace(
        valued,
        solver=raw.solver,
        constraints=raw.constraints,
        details=FrozenDict({**raw.details, "polished": True}),
        raw=raw,
    )


def sell_for_nothing(program: Program, records: Sequence[ConstraintRecord]) -> Solution:
    """Solve a program without a budget, all of whose constraints are linear."""
    assert program.objective_record is not None  # noqa: S101
    found = solve_statement(state(program.market, records), 0.0, objective=program.objective_record)
    return dataclasses.replace(found, solver="conic", constraints=program.extensions)


def _from_multipliers(program: Program, raw: Solution) -> Solution:
    price = float(raw.details["multiplier_of_budget"])
    if not raw.records:
        start = 1.0 / price if price > 0 else math.inf
        return solve_concave(program.market, raw.budget, raw.objective, start=start)
    return solve_statement(
        state(program.market, raw.records),
        raw.budget,
        objective=raw.objective,
        start=np.append(price, raw.constraint_prices),
    )


def _with_details(solution: Solution, more: dict[str, Any]) -> Solution:
    return dataclasses.replace(solution, details=FrozenDict({**solution.details, **more}))
