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
    Statement,
    Status,
    at_budget,
    expansion_of,
    fold,
    state,
    thin,
)
from smqopt.numeric import FrozenDict
from smqopt.solvers._abstract_solver import AbstractSolver
from smqopt.solvers._result import rounding_of_spend
from smqopt.solvers.structured._structured_solver import StructuredSolver

_WAYS = ((2.0**-40, 0.0), (0.0, 0.0), (2.0**-42, 2.0**-40), (2.0**-36, 2.0**-34.5))
"""What is kept from limits, relative to them: what a linear program may break them by; and by what
share all that is asked for gives way. The next one is used where there are no offers, or none are
found. Where there are none without either, that is proved."""
_THIN = 2.0**-36
"""Offers that cost more than the budget by less, relatively, are made by so much less often."""

_FINER, _MUCH = 4, 16.0
"""How often a program is stated anew where its objective counts the spend, and by how much less is
to be counted then."""
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
            own = quick.solve(_giving_way(stated, e.budget, give), e.budget, e.objective)
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
            e, found = _tell_apart(e, found, quick, (margin, give))
            break
    if found is None:
        raise failure
    assert e is not None  # noqa: S101
    details = dict(found.details)
    if "posted_gap" in details:
        value, rounding = e.value(_offers(found))
        judged = expansion_of(market, budget, records, aim, above=value - rounding) or e
        details["posted_gap"] = judged.gap(value, details["upper_bound"] - e.shift + margin * abs(e.shift))
    return dataclasses.replace(found, claims_response=False, raw=None, details=FrozenDict(details))


def _tell_apart(
    e: Expansion, found: Solution, solver: AbstractSolver, way: tuple[float, float]
) -> tuple[Expansion, Solution]:
    """Solve anew while much less spend is to be told apart than was."""
    for _ in range(_FINER if e.worths[0].price and "posted_gap" not in found.details else 0):
        value, rounding = e.value(_offers(found))
        finer = expansion_of(
            found.market, found.budget, found.records, found.objective, margin=way[0], above=value - rounding
        )
        assert finer is not None  # noqa: S101
        if finer.counted * _MUCH > e.counted:
            break
        stated = state(finer.market, finer.records)
        try:
            own = solver.solve(_giving_way(stated, finer.budget, way[1]), finer.budget, finer.objective)
        except SolverError:
            break
        better, keeps = _within_budget(finer, fold(finer, own, found.market, found.records, found.objective))
        if own.status is Status.INFEASIBLE or not keeps or finer.value(_offers(better))[0] < value - rounding:
            break
        e, found = finer, better
    return e, found


def _giving_way(stated: Statement, budget: float, share: float) -> Statement:
    """Return what gives way by a share.

    Who is left no money by limits as they are stays so.
    """
    return at_budget(stated, budget).loosen(share) if share else stated


def _within_budget(e: Expansion, found: Solution) -> tuple[Solution, bool]:
    """Return offers, made less often if they cost too much; and whether they fit."""
    spend = _most_spent(e, found)
    over = spend - found.budget + rounding_of_spend(found)
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
