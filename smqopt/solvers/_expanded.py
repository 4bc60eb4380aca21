"""Programs with laws in doubt or minima in the objective, solved as ordinary ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from smqopt.errors import InputError
from smqopt.market import (
    ConstraintRecord,
    Expansion,
    Market,
    Objective,
    Offers,
    Solution,
    Statement,
    Status,
    expansion_of,
    fold,
    state,
)
from smqopt.numeric import SIDE_GAP, SIDE_ROW

_MARGINS = (2.0**-40, 2.0**-34)
"""What is kept from limits, relative to them: what a linear program may break them by. The last one
is used where the first is not enough."""

_FEW_POSTED = 200
"""Rows among which one posted price each is sought beside minima."""

Route = Callable[[Statement, float, Objective], Solution]


def solve_expansion(
    market: Market,
    budget: float,
    records: Sequence[ConstraintRecord],
    aim: Objective,
    route: Route,
    *,
    lotteries: bool = True,
) -> Solution:
    """Solve the ordinary program, and return its solution as one of the user's.

    Parameters
    ----------
    market, budget, records, aim
        What the user asks.
    route
        Solves an ordinary statement.
    lotteries
        Whether owners may draw.

    Raises
    ------
    InputError
        If the program cannot be stated so.
    SolverError
        As the route does.
    """
    found: Solution | None = None
    for margin in (*_MARGINS, 0.0):
        if margin == 0.0 and found is not None and found.status is not Status.INFEASIBLE:
            break
        e = _expansion(market, budget, records, aim, margin=margin)
        form = state(e.market, e.records)
        solved = route(form, e.budget, e.objective)
        solved = _without_idle(form, solved) if lotteries and not e.bends else solved
        found = fold(e, solved, market, records, aim)
        if found.status is Status.INFEASIBLE:
            if budget == 0.0:
                break
            continue
        offers = Offers(found.thresholds, found.acceptance, found.lottery)
        if np.all(e.spends(offers) <= budget):
            break
    assert found is not None  # noqa: S101
    return dataclasses.replace(found, claims_response=False, raw=None)


def _expansion(
    market: Market, budget: float, records: Sequence[ConstraintRecord], aim: Objective, *, margin: float
) -> Expansion:
    e = expansion_of(market, budget, records, aim, margin=margin)
    assert e is not None  # noqa: S101
    return e


def _without_idle(form: Statement, solution: Solution) -> Solution:
    """Take back offers that no multiplier asks for, if rows and value stay.

    What a small acceptance costs may be next to nothing, so that a linear program leaves it.
    """
    if form.blocks is not None or form.row_of_owner is not None or not solution.budget_price < np.inf:
        return solution
    asked = form.terms(solution.budget_price, solution.constraint_prices)[0] > 0
    kept = asked | (form.lowest > 0)
    q = np.where(kept, solution.acceptance, 0.0)
    drawn = solution.lottery
    if drawn is not None:
        places = np.flatnonzero(kept[drawn.owner])
        drawn = drawn.take(places, drawn.owner[places]) if places.size else None
    thresholds = np.where(kept, solution.thresholds, form.market.low)
    offers = Offers(thresholds, q, drawn)
    used = form.usage(q, offers.spend)
    room = SIDE_ROW.value * (np.abs(form.at_most) + abs(form.acceptance) @ q + abs(form.spend) @ offers.spend)
    if np.any(used > form.at_most + room) or np.any(form.equal & (used < form.at_most - room)):
        return solution
    before, after = (solution.objective.value(form.market, each) for each in (solution.acceptance, q))
    if abs(after - before) > SIDE_GAP.value * abs(before):  # a multiplier of 0 may stand for a tie
        return solution
    return dataclasses.replace(solution, thresholds=thresholds, acceptance=q, lottery=drawn)


def refuse_route(market: Market, solver: object, name: str, options: Mapping[str, Any]) -> None:
    """Refuse a route, or options, that do not take laws in doubt or minima.

    Raises
    ------
    InputError
        If it is another one than "structured", or one posted price each is asked for of more owners
        than a mixed-integer program takes.
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
