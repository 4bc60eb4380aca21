"""OP2 with linear side constraints: from a statement to a solution, or to the constraints that cannot hold together."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import SolverError
from smqopt.numeric.sums import exact_dot
from smqopt.numeric.tolerances import BUDGET_MARGIN, SIDE_GAP
from smqopt.program.constraints.statement import Statement, state
from smqopt.program.lottery import Lottery
from smqopt.program.market import Market
from smqopt.program.solution import Solution
from smqopt.program.status import Status
from smqopt.solvers.dual import solve_market
from smqopt.solvers.structured.barrier import follow, spread_of
from smqopt.solvers.structured.dual_newton import Dual, Point, dot, minimise
from smqopt.solvers.structured.pinned import pinned
from smqopt.solvers.structured.recovery import Offers, active_rows, recovered
from smqopt.solvers.structured.responses import Owners
from smqopt.solvers.structured.rounding import without_lotteries

__all__ = ["BUDGET", "solve_statement"]

Floats = NDArray[np.float64]

BUDGET = "the budget"
"""How the budget is called among the constraints to blame."""

_PRICE_SHARES = (0.0, 2.0**-30)
_ROUNDING = 2.0**-44
_PINNED = 2.0**-10
"""Prices are pinned to flat pieces once μ is below this share of all privacy: before, too many owners are near one."""
_SPREAD_OUT = 2.0**-24
"""The least spread of a jump: a smaller μ comes no nearer."""
_FEW = 256
"""Rows up to which a linear program over chords is quicker than following the barrier."""
_GOOD = 2.0**-38
"""A gap so small is not worth more work."""


@dataclasses.dataclass(frozen=True)
class _Found:
    point: Point
    offers: Offers
    gap: float
    binding: bool
    """Whether the budget is spent and has a price."""


def solve_statement(statement: Statement, budget: float, *, lotteries: bool = True) -> Solution:
    """Solve OP2 with linear side constraints by its dual.

    Parameters
    ----------
    statement
        The market and its constraints.
    budget
        B ≥ 0, in currency.
    lotteries
        Whether owners on a flat piece of their ironed cost curve may draw between two prices. Without, each of them gets one of the two, as
        long as all constraints hold; `details` says how far the answer is from the bound.

    Returns
    -------
    Solution
        With the multipliers of the rows; where no thresholds satisfy all constraints its status is INFEASIBLE, nobody gets an offer, and
        `blame` names constraints that cannot hold together, each of them needed for that.

    Raises
    ------
    SolverError
        If multipliers and thresholds do not come near enough to each other, or no prices without lotteries keep all constraints.
    """
    if not _is_feasible_alone(statement, budget):
        return _infeasible(statement, budget)
    if budget == 0:
        return _nothing(statement, Status.ZERO_BUDGET, math.inf)
    found = _search(statement, budget)
    if found is None:
        return _infeasible(statement, budget)
    if not found.gap <= SIDE_GAP.value:
        raise SolverError(
            "structured solver",
            f"could not bring bound and thresholds within {SIDE_GAP.value:g} of each other",
            value=found.gap,
            remedy='try solver="conic"',
        )
    return _solution(statement, budget, found if lotteries else _posted(statement, budget, found))


def _posted(statement: Statement, budget: float, found: _Found) -> _Found:
    """Replace lotteries by one of their two prices."""
    if found.offers.lottery is None:
        return found
    safe = budget * (1.0 - BUDGET_MARGIN.value)
    offers = without_lotteries(Dual(Owners(statement), safe), found.offers, safe)
    bought = dot(statement.weights(), statement.reduced.epsilon * offers.acceptance)
    bound = max(found.point.value, np.finfo(float).tiny)
    return dataclasses.replace(found, offers=offers, gap=(bound - bought) / bound)


def _search(statement: Statement, budget: float) -> _Found | None:
    """Find multipliers and offers; None where the dual shows that no offers satisfy the constraints.

    Purchased privacy is at least 0, so a negative value of the dual, which bounds it from above, proves that there is none.
    """
    owners = Owners(statement)
    m, epsilon = statement.weights(), statement.reduced.epsilon
    all_privacy = dot(m, epsilon) or 1.0
    impossible = -_ROUNDING * all_privacy
    start = np.zeros(1 + len(statement.names))
    start[0] = _plain_price(statement.reduced, budget, all_privacy / dot(m, statement.reduced.high))
    margin = BUDGET_MARGIN.value
    while True:
        dual = Dual(owners, budget * (1.0 - margin))
        found: _Found | None = None
        for point, acceptance in _candidates(dual, start, all_privacy, impossible):
            if _proves_infeasible(point, impossible):
                return None
            other = _judged(statement, dual, point, acceptance)
            if found is None or other.gap < found.gap:
                found = other
            if found.gap <= _GOOD:
                break
        while found is not None and found.gap <= SIDE_GAP.value and _total(statement, found.offers) > budget:
            margin *= 4  # what rounding added is taken back from the same answer
            dual = Dual(owners, budget * (1.0 - margin))
            found = _judged(statement, dual, dual.at(found.point.z, 0.0), found.offers.acceptance)
        if found is None or _total(statement, found.offers) <= budget or margin > SIDE_GAP.value:
            return found
        margin *= 4


def _candidates(
    dual: Dual, start: Floats, all_privacy: float, impossible: float
) -> Iterator[tuple[Point, Floats | None]]:
    """Give points, and acceptances where they are not the answers there, each way that may lead to the optimum in turn."""
    owners = dual.owners
    if not owners.jumps:
        yield minimise(dual, start, 0.0, impossible), None
    if owners.n <= _FEW:
        yield from _by_columns(dual, all_privacy, None)
    point: Point | None = None
    for point, acceptance in _by_barrier(dual, start, all_privacy, impossible):
        yield point, acceptance
    if owners.n > _FEW:
        yield from _by_columns(dual, all_privacy, point)


def _by_columns(dual: Dual, all_privacy: float, near: Point | None) -> Iterator[tuple[Point, Floats | None]]:
    for one in importlib.import_module("smqopt.solvers.structured.columns").priced(dual, all_privacy, near):
        yield dual.at(one.z, 0.0), one.acceptance


def _by_barrier(
    dual: Dual, start: Floats, all_privacy: float, impossible: float
) -> Iterator[tuple[Point, Floats | None]]:
    jumps = dual.owners.jumps
    for point, mu in follow(dual, start, all_privacy, jumps=jumps, impossible=impossible):
        yield point, None
        for price_share in _PRICE_SHARES if jumps and mu <= _PINNED * all_privacy else ():
            end = pinned(dual, point, spread_of(mu / all_privacy), all_privacy, price_share)
            if end is not None:
                yield dual.at(end.z, 0.0), end.acceptance
        if jumps and mu <= _SPREAD_OUT * all_privacy:
            return


def _proves_infeasible(point: Point, impossible: float) -> bool:
    return point.value < min(impossible, -_ROUNDING * point.size)


def _judged(statement: Statement, dual: Dual, point: Point, acceptance: Floats | None = None) -> _Found:
    """Give the offers for a point, and how far they are from the bound, or from keeping a row."""
    offers = recovered(dual, point, acceptance)
    m, epsilon = statement.weights(), statement.reduced.epsilon
    bound = point.value if not dual.owners.jumps else dual.at(point.z, 0.0).value
    unit = max(abs(bound), _ROUNDING * dot(m, epsilon), np.finfo(float).tiny)
    gap = abs(bound - dot(m, epsilon * offers.acceptance)) / unit
    left = dual.left(offers.acceptance, offers.spend)
    broken = float(
        np.max(
            np.where(dual.equal, np.abs(left), np.maximum(-left, 0.0)) / np.maximum(point.scale, np.finfo(float).tiny)
        )
    )
    return _Found(point, offers, max(gap, broken), bool(active_rows(dual, point, left)[0]))


def _plain_price(market: Market, budget: float, unit: float) -> float:
    """Start from the budget price without side constraints."""
    price = solve_market(market, budget).budget_price
    return price if 0 < price < math.inf else unit


def _total(statement: Statement, offers: Offers) -> float:
    return exact_dot(offers.spend, statement.weights(), up=True)


# --- what cannot hold together -------------------------------------------------------------------------------------


def _is_feasible_alone(statement: Statement, budget: float) -> bool:
    """Look at what needs no search: bounds that leave no acceptance, and a budget of 0."""
    if statement.conflict() is not None:
        return False
    if budget > 0:
        return True
    nothing = np.zeros(statement.reduced.n)
    left = statement.at_most - statement.usage(nothing, nothing)
    return not np.any(statement.lowest > 0) and bool(np.all(np.where(statement.equal, left == 0, left >= 0)))


def _is_feasible(statement: Statement, budget: float) -> bool:
    return _is_feasible_alone(statement, budget) and (budget == 0 or _search(statement, budget) is not None)


def _infeasible(statement: Statement, budget: float) -> Solution:
    solution = _nothing(statement, Status.INFEASIBLE, math.inf, budget)
    return dataclasses.replace(solution, blame=_irreducible(statement, budget))


def _irreducible(statement: Statement, budget: float) -> tuple[str, ...]:
    """Name constraints that cannot hold together, and can once any of them goes: each is dropped in turn, and stays out where that changes nothing."""
    conflict = statement.conflict()
    kept = list(range(len(statement.records))) if conflict is None else list(conflict)
    for number in tuple(kept):
        without = [other for other in kept if other != number]
        if not _is_feasible(state(statement.market, [statement.records[k] for k in without]), budget):
            kept = without
    records = [statement.records[k] for k in kept]
    plenty = 2.0 * float(np.sum(statement.weights() * statement.reduced.high)) + budget
    blamed = [record.words for record in records]
    return tuple(blamed) if not _is_feasible(state(statement.market, records), plenty) else (*blamed, BUDGET)


# --- the record ----------------------------------------------------------------------------------------------------


def _nothing(statement: Statement, status: Status, price: float, budget: float = 0.0) -> Solution:
    market = statement.market
    thresholds, acceptance = market.low.copy(), np.zeros(market.n)
    return _record(statement, budget, thresholds, acceptance, price, status, np.zeros(len(statement.names)), None, {})


def _solution(statement: Statement, budget: float, found: _Found) -> Solution:
    z, offers = found.point.z, found.offers
    thresholds, acceptance = statement.expanded(offers.thresholds), statement.expanded(offers.acceptance)
    return _record(
        statement,
        budget,
        thresholds,
        acceptance,
        float(z[0]) if found.binding else 0.0,
        Status.BINDING if found.binding else Status.SLACK,
        z[1:],
        _expanded(statement, offers.lottery),
        {"gap": found.gap},
    )


def _expanded(statement: Statement, lottery: Lottery | None) -> Lottery | None:
    """Give everybody who shares a row the row's lottery."""
    if lottery is None or statement.row_of_owner is None:
        return lottery
    place = np.full(statement.reduced.n, -1, dtype=np.intp)
    place[lottery.owner] = np.arange(len(lottery))
    rows = np.flatnonzero(place[statement.row_of_owner] >= 0)
    columns = [entry.name for entry in dataclasses.fields(lottery) if entry.name != "owner"]
    return Lottery(rows, *(getattr(lottery, name)[place[statement.row_of_owner[rows]]] for name in columns))


def _record(
    statement: Statement,
    budget: float,
    thresholds: Floats,
    acceptance: Floats,
    price: float,
    status: Status,
    multipliers: Floats,
    lottery: Lottery | None,
    details: dict[str, Any],
) -> Solution:
    for values in (thresholds, acceptance, multipliers):
        values.flags.writeable = False
    return Solution(
        market=statement.market,
        budget=budget,
        thresholds=thresholds,
        acceptance=acceptance,
        budget_price=price,
        status=status,
        solver="structured",
        market_fingerprint=statement.market.fingerprint,
        constraints=tuple(record.words for record in statement.records),
        records=statement.records,
        constraint_prices=multipliers,
        lottery=lottery,
        details=MappingProxyType(details),
    )
