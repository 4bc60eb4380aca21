"""The search for multipliers and offers.

Each way that may lead to the optimum in turn, until bound and offers meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import Market, Objective, Offers, Statement, Utility
from smqopt.numeric import BUDGET_MARGIN, SIDE_GAP, Floats, exact_dot
from smqopt.solvers.price_search._concave import price_and_value
from smqopt.solvers.structured._barrier import follow
from smqopt.solvers.structured._dual_newton import Dual, DualPoint, WorkLimitError, dot, minimise
from smqopt.solvers.structured._nonsmooth_newton import descend
from smqopt.solvers.structured._primal_recovery import active_rows, recover
from smqopt.solvers.structured._response import Owners

_ROUNDING = 2.0**-44
_FEW = 256
"""Rows up to which, where all else fails, a linear program over chords is quicker than following
the barrier."""
_SPREADS = (2.0**-4, 2.0**-7, 2.0**-9)
"""By how much jumps are spread on the way to the optimum."""
_STEPS_TO_COME_NEAR, _SHORTEST_TO_COME_NEAR = 12, 2.0**-4
"""Newton's steps for each, and the shortest: where they do not arrive, what comes after does all
the same."""
_SAMPLE = 1 << 12
"""Owners with jumps whose budget price is a start: more of them would take longer than they save.
"""
_GOOD = 2.0**-38
"""A gap so small is not worth more work."""


@dataclass(frozen=True)
class SearchResult:
    """Multipliers and offers, and how near they are to each other."""

    point: DualPoint
    offers: Offers
    gap: float
    """The bound less what is bought, relative to the bound; or what a row is broken by, if that is
    more."""
    binding: bool
    """Whether the budget is spent and has a price."""


def search(
    statement: Statement,
    budget: float,
    start: Floats | None = None,
    objective: Objective | None = None,
    near: Floats | None = None,
) -> SearchResult | None:
    """Find multipliers and offers.

    None where the dual shows that no offers satisfy the constraints.

    Purchased privacy is at least 0, so a negative value of the dual, which bounds it from above,
    proves that there is none. Alike another objective is at least what the lowest acceptances are
    worth; where that is −∞, purchased privacy is asked first.

    Parameters
    ----------
    statement, budget, objective
        What is to be solved.
    start
        Multipliers from which the search begins; those of OP2 alone where there are none, or the
        first is not positive.
    near
        Acceptances of the rows that are all but optimal: the offers are these, moved to meet the
        active rows, and not the owners' answers to the multipliers, which do not tell them where
        cost curves are straight or spend is free. `start` must be all but optimal, too.
    """
    owners = Owners(statement, None if objective is None else statement.utility(objective))
    m, known = statement.weights(), None if near is None or start is None else (start, near)
    if objective is None:
        all_privacy = dot(m, statement.reduced.epsilon) or 1.0
        impossible = -_ROUNDING * all_privacy
        price = None
    else:
        price, all_privacy = _concave_price(statement.reduced, owners.utility, budget)
        worst = owners.value(statement.lowest)
        impossible = worst - _ROUNDING * (all_privacy + abs(worst)) if math.isfinite(worst) else -math.inf
        if not math.isfinite(impossible) and search(statement, budget) is None:
            return None
    if start is None or start.shape != (1 + len(statement.names),) or not start[0] > 0:
        start = np.zeros(1 + len(statement.names))
        unit = all_privacy / (dot(m, statement.reduced.high) or 1.0)  # where all sell for nothing, any unit will do
        start[0] = _plain_price(owners, budget, unit) if price is None else price
    margin = BUDGET_MARGIN.value
    while True:
        dual = Dual(owners, budget * (1.0 - margin))
        found: SearchResult | None = None
        candidates = _candidates(dual, start, all_privacy, impossible, known)
        while (candidate := _next(candidates)) is not None:
            point, acceptance = candidate
            # the margin below the budget is for rounding, and proves nothing
            if _proves_infeasible(point, impossible - float(point.z[0]) * budget * margin):
                return None
            other = _assess(dual, point, acceptance)
            if found is None or other.gap < found.gap:
                found = other
            if found.gap <= _GOOD:
                break
        if found is None:
            raise SolverError(
                "structured solver", "reached its limit of work before any thresholds", remedy='try solver="conic"'
            )
        while found.gap <= SIDE_GAP.value and _total(statement, found.offers) > budget:
            margin *= 4  # what rounding added is taken back from the same answer
            dual = Dual(owners, budget * (1.0 - margin))
            found = _assess(dual, dual.at(found.point.z, 0.0), found.offers.acceptance)
        if _total(statement, found.offers) <= budget or margin > SIDE_GAP.value:
            return found
        margin *= 4


def _next(candidates: Iterator[tuple[DualPoint, Floats | None]]) -> tuple[DualPoint, Floats | None] | None:
    """Return the next candidate; None at their end, or at the limit of work."""
    try:
        return next(candidates, None)
    except WorkLimitError:
        return None


def _candidates(
    dual: Dual, start: Floats, all_privacy: float, impossible: float, known: tuple[Floats, Floats] | None
) -> Iterator[tuple[DualPoint, Floats | None]]:
    """Return points, and acceptances where they are not the answers there.

    Newton's method comes first, then what takes kinks as they are; where neither arrives, a barrier
    and a linear program over chords.
    """
    owners, z = dual.owners, start
    if known is not None:
        yield from _nearby(dual, start, known, impossible)
        return
    for h in _SPREADS if owners.jumps else ():
        z = minimise(dual, z, h, impossible, steps=_STEPS_TO_COME_NEAR, shortest=_SHORTEST_TO_COME_NEAR).z
    if not owners.jumps or not owners.utility.straight.all():
        arrived = minimise(dual, z, 0.0, impossible)
        yield arrived, None
        z = arrived.z
    yield from descend(dual, z, _SPREADS[-1], impossible)
    chords = not owners.utility.needed.any()
    if owners.n <= _FEW and chords:
        yield from _by_columns(dual, all_privacy, None)
    point: DualPoint | None = None
    for point in follow(dual, start, all_privacy, impossible=impossible):
        yield point, None
    if owners.n > _FEW or not chords:
        yield from _by_columns(dual, all_privacy, point)


def _by_columns(dual: Dual, all_privacy: float, near: DualPoint | None) -> Iterator[tuple[DualPoint, Floats | None]]:
    from smqopt.solvers.structured._column_generation import price_rounds  # noqa: PLC0415 -- loads SciPy's linear programs

    for one in price_rounds(dual, all_privacy, near):
        yield dual.at(one.z, 0.0), one.acceptance


def _nearby(
    dual: Dual, start: Floats, known: tuple[Floats, Floats], impossible: float
) -> Iterator[tuple[DualPoint, Floats]]:
    """Return points next to multipliers, with acceptances that are all but optimal."""
    multipliers, acceptance = known
    yield dual.at(multipliers, 0.0), acceptance
    if not dual.owners.jumps or not dual.owners.utility.straight.all():
        yield minimise(dual, start, 0.0, impossible), acceptance


def _proves_infeasible(point: DualPoint, impossible: float) -> bool:
    return point.value < min(impossible, -_ROUNDING * point.size)


def _assess(dual: Dual, point: DualPoint, acceptance: Floats | None = None) -> SearchResult:
    """Return the offers for a point, and how far they are from bound and rows."""
    offers = recover(dual, point, acceptance)
    bound = point.value if not dual.owners.jumps else dual.at(point.z, 0.0).value
    everything = abs(dual.owners.value(np.ones(dual.owners.n)))
    unit = max(abs(bound), _ROUNDING * everything, np.finfo(float).tiny)
    gap = abs(bound - dual.owners.value(offers.acceptance)) / unit
    left = dual.left(offers.acceptance, offers.spend)
    broken = float(
        np.max(
            np.where(dual.equal, np.abs(left), np.maximum(-left, 0.0)) / np.maximum(point.scale, np.finfo(float).tiny)
        )
    )
    return SearchResult(point, offers, max(gap, broken), bool(active_rows(dual, point, left)[0]))


def _plain_price(owners: Owners, budget: float, unit: float) -> float:
    """Start from the budget price without constraints, of a sample where jumps abound."""
    market = owners.statement.reduced
    if owners.jumps and market.n > _SAMPLE:
        some = np.arange(0, market.n, -(-market.n // _SAMPLE))
        counts = market.multiplicity
        share = some.size / market.n if counts is None else float(counts[some].sum()) / float(counts.sum())
        few = None if counts is None else counts[some]
        market = Market(market.epsilon[some], market.valuation.take(some), multiplicity=few)
        budget *= share
    price = price_and_value(market, owners.utility, budget)[0]
    return price if 0 < price < math.inf else unit


def _concave_price(market: Market, utility: Utility, budget: float) -> tuple[float, float]:
    """Return the budget price without constraints, and the objective there."""
    price, value = price_and_value(market, utility, budget)
    size = abs(value) if math.isfinite(value) and value != 0 else 1.0
    return (price if 0 < price < math.inf else size / dot(market.weights, market.high)), size


def _total(statement: Statement, offers: Offers) -> float:
    return exact_dot(offers.spend, statement.weights(), up=True)
