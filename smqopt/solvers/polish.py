"""Polishing: from the multipliers that a conic solver leaves to thresholds that meet the optimality conditions to the last digits.

A conic answer has about six digits of acceptance, and its multipliers err little more. They are a start a few steps away from the multipliers at which
all rows are met, and those give every owner her threshold by her own law: J(θ) = e/p, with her reduced requirement and price.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from smqopt.errors import SolverError
from smqopt.program.constraints.statement import state
from smqopt.program.linear_rows import LinearConstraint
from smqopt.program.objectives.purchased_privacy import PurchasedPrivacy
from smqopt.program.program import Program
from smqopt.program.solution import Solution
from smqopt.program.status import Status
from smqopt.solvers.dual import solve_market
from smqopt.solvers.structured.solve import solve_statement

__all__ = ["polished"]


def polished(program: Program, raw: Solution, linear: Sequence[LinearConstraint] | None) -> Solution:
    """Polish a conic answer where all that was added is linear; the raw one goes with it.

    Parameters
    ----------
    program
        The program that was solved.
    raw
        Its conic answer, with multipliers.
    linear
        What `program.linear_constraints()` gives; None where something is not linear, and the answer stays as it is.
    """
    of_op2 = isinstance(raw.objective, PurchasedPrivacy)
    if linear is None or not of_op2 or program.removed or raw.status not in (Status.BINDING, Status.SLACK):
        return raw
    try:
        better = _from_multipliers(program, raw)
    except SolverError as error:  # what the conic solver found still stands
        return _with_details(raw, {"polished": False, "why_not": str(error)})
    if better.status is not raw.status:
        return _with_details(raw, {"polished": False, "why_not": f"polishing ends with {better.status.name}"})
    return dataclasses.replace(
        better,
        solver=raw.solver,
        constraints=raw.constraints,
        details=MappingProxyType({**raw.details, "polished": True}),
        raw=raw,
    )


def _from_multipliers(program: Program, raw: Solution) -> Solution:
    price = float(raw.details["multiplier_of_budget"])
    if not raw.records:
        return solve_market(program.market, raw.budget, start=1.0 / price if price > 0 else math.inf)
    return solve_statement(
        state(program.market, raw.records), raw.budget, start=np.append(price, raw.constraint_prices)
    )


def _with_details(solution: Solution, more: dict[str, Any]) -> Solution:
    return dataclasses.replace(solution, details=MappingProxyType({**solution.details, **more}))
