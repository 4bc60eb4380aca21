"""Programs with laws in doubt or minima in the objective, solved as ordinary ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smqopt.errors import InputError, SolverError
from smqopt.market import (
    ConstraintRecord,
    Expansion,
    Market,
    Objective,
    Offers,
    Solution,
    Status,
    expansion_of,
    fold,
    state,
    thin,
)
from smqopt.numeric import FrozenDict
from smqopt.solvers._abstract_solver import AbstractSolver
from smqopt.solvers.structured._structured_solver import StructuredSolver

_WAYS = ((2.0**-40, 0.0), (0.0, 0.0), (2.0**-42, 2.0**-40), (2.0**-36, 2.0**-34.5))
"""What is kept from limits, relative to them: what a linear program may break them by; and by what
share all that is asked for gives way. The next one is used where there are no offers, or none are
found. Where there are none without either, that is proved."""
_THIN = 2.0**-36
"""Offers that cost more than the budget by less, relatively, are made by so much less often."""

_FEW_POSTED = 200
"""Rows among which one posted price each is sought beside minima."""


def solve_expansion(
    market: Market,
    budget: float,
    records: Sequence[ConstraintRecord],
    aim: Objective,
    solver: AbstractSolver,
) -> Solution:
    """Solve the ordinary program, and fold its solution."""
    found: Solution | None = None
    quick = solver.without_conflict() if isinstance(solver, StructuredSolver) and budget > 0 else solver
    for margin, give in _WAYS:
        e = expansion_of(market, budget, records, aim, margin=margin)
        assert e is not None  # noqa: S101
        stated = state(e.market, e.records)
        try:
            own = quick.solve(stated.loosen(give) if give else stated, e.budget, e.objective)
        except SolverError as error:
            failure = error
            continue
        if own.status is Status.INFEASIBLE:
            if margin > 0.0 < budget:
                continue
            found = fold(e, solver.solve(stated, e.budget, e.objective), market, records, aim)
            break
        found, keeps = _within_budget(e, fold(e, own, market, records, aim))
        if keeps:
            break
    if found is None:
        raise failure
    assert e is not None  # noqa: S101
    details = dict(found.details)
    if "posted_gap" in details:
        details["posted_gap"] = e.gap(e.value(_offers(found))[0], details["upper_bound"] - e.shift)
    return dataclasses.replace(found, claims_response=False, raw=None, details=FrozenDict(details))


def _within_budget(e: Expansion, found: Solution) -> tuple[Solution, bool]:
    """Return offers, made less often if they cost too much; and whether they fit."""
    spend = _most_spent(e, found)
    over = spend - found.budget
    if 0 < over <= _THIN * found.budget and "posted_gap" not in found.details:
        found = thin(e, found, 2.0 * over / spend)
        over = _most_spent(e, found) - found.budget
    return found, over <= 0


def _most_spent(e: Expansion, found: Solution) -> float:
    return float(np.max(e.spends(_offers(found))))


def _offers(found: Solution) -> Offers:
    return Offers(found.thresholds, found.acceptance, found.lottery)


def refuse_route(market: Market, solver: object, name: str, options: Mapping[str, Any]) -> None:
    """Refuse a route, or options, that do not take laws in doubt or minima.

    One posted price each is not taken of more owners than a mixed-integer program takes.
    """
    if name != "structured":
        raise InputError(
            "solve: argument 'solver'",
            "does not take laws in doubt, or an objective with a minimum or a spend",
            value=solver if isinstance(solver, str) else name,
            remedy='use solver="structured", or leave it out',
        )
    if not options.get("lotteries", True) and market.n > _FEW_POSTED:
        raise InputError(
            "solve: argument 'lotteries'",
            f"must be True beyond {_FEW_POSTED} rows under laws in doubt, a minimum or a spend",
            value=False,
            remedy="leave it out: hardly more owners draw than rows bind",
        )
