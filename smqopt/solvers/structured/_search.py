"""The search for multipliers and offers.

Each way that may lead to the optimum in turn, until bound and offers meet.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from smqopt.market import Linear, Objective, Offers, PurchasedPrivacy, Statement
from smqopt.numeric import BUDGET_MARGIN, SIDE_GAP, Floats, exact_dot
from smqopt.solvers.structured._dual import Dual, DualPoint, dot
from smqopt.solvers.structured._newton import descend
from smqopt.solvers.structured._primal_recovery import active_rows, recover
from smqopt.solvers.structured._response import Owners

_ROUNDING = 2.0**-44
FEW = 256
"""Rows up to which a linear program over columns is quicker than steps from kink to kink."""
_MOST_COLUMNS = 20_000
"""Rows up to which a linear program over all their columns is tried at all."""
_SAMPLE = 1 << 12
"""Rows of whom a sample comes near first."""
_FAR, _CLOSE = 1.0, 2.0**-6
"""Half the width of the first box, from anywhere and from what a sample comes to."""
_MORE = 2.0**40
"""What fails with so many times more money fails, and is seen sooner where budgets are tiny."""
_GOOD = 2.0**-38
"""A gap so small is not worth more work."""
_LAST = 2.0**-6
"""Of roundings, what the last digits of terms come to."""
_FAINT = 2.0**-12
"""A bound that is a smaller share of what all are worth."""
RAISE = 2.0**-30
"""Of multipliers, relatively, where nothing is worth buying."""


class InfeasibleError(Exception):
    """Nothing satisfies the constraints."""


@dataclass(frozen=True)
class SearchResult:
    """Multipliers and offers, and how near they are to each other."""

    point: DualPoint
    offers: Offers
    gap: float
    """The bound less what is bought, relative to the bound; or what a row is broken by, if that is
    more."""


def search(
    statement: Statement,
    budget: float,
    start: Floats | None,
    objective: Objective,
) -> SearchResult | None:
    """Find multipliers and offers.

    None where the dual shows that no offers satisfy the constraints.

    An objective is at least what the lowest acceptances are worth, so a lower value of the dual,
    which bounds it from above, proves that there is none; where that is −∞, purchased privacy is
    asked first.

    Where `start` is none, or the first is not positive, the search begins at a price of the budget
    alone, from its size.
    """
    more = _MORE * budget

    def fails(amount: float) -> bool:
        return _asks(statement) and search(statement, amount, None, PurchasedPrivacy()) is None

    if more < statement.most_that_can_be_spent() and fails(more):
        return None
    owners = Owners(statement, statement.utility(objective))
    most, worst = abs(owners.value(np.ones(owners.n))), owners.value(statement.lowest)
    impossible = worst - _ROUNDING * (most + abs(worst)) if math.isfinite(worst) else -math.inf
    if not math.isfinite(impossible) and owners.n > FEW and fails(budget):
        return None
    if start is None or start.shape != (1 + len(statement.names),) or not start[0] > 0:
        start = np.zeros(1 + len(statement.names))
        dearest = (
            dot(statement.weights(), statement.reduced.high) or 1.0
        )  # where all sell for nothing, any unit will do
        # between what all buy for all their money and for the budget: right where F is a power
        start[0] = (most or 1.0) / (math.sqrt(dearest) * math.sqrt(min(budget, dearest)))
    margin = BUDGET_MARGIN.value
    while True:
        dual = Dual(owners, budget * (1.0 - margin))
        candidates = _candidates(dual, start, impossible)
        # the margin below the budget is for rounding, and proves nothing
        try:
            found = _by_steps(dual, candidates, lambda point: impossible - float(point.z[0]) * budget * margin)  # noqa: B023
            if (found is None or found.gap > _GOOD) and owners.n <= _MOST_COLUMNS:
                found = _by_columns(dual, budget, found)
        except InfeasibleError:
            return None
        assert found is not None  # noqa: S101 -- steps have a last one, and columns end or say why not
        while found.gap <= SIDE_GAP.value and _total(statement, found.offers) > budget:
            margin *= 4  # what rounding added is taken back from the same answer
            dual = Dual(owners, budget * (1.0 - margin))
            found = _assess(dual, dual.at(found.point.z), found.offers.acceptance)
        if _total(statement, found.offers) <= budget or margin > SIDE_GAP.value:
            return _above_rounding(dual, found)
        margin *= 4


def _above_rounding(dual: Dual, found: SearchResult) -> SearchResult:
    """Raise multipliers a little where the bound is next to nothing.

    Below a kink, their rounding alone could be much of it.
    """
    point, nothing = found.point, dual.owners.value(found.offers.acceptance) == 0
    if not nothing and abs(point.value) >= _FAINT * abs(dual.owners.value(np.ones(dual.owners.n))):
        return found
    higher = dual.at(point.z * (1.0 + (RAISE if nothing else _ROUNDING)))
    rest = 0.0 if nothing else _ROUNDING * (4.0 * abs(point.value) + _LAST * point.size)
    return dataclasses.replace(found, point=higher) if higher.value <= point.value + rest else found


def _by_steps(
    dual: Dual,
    candidates: Iterator[tuple[DualPoint, Floats | None]],
    impossible: Callable[[DualPoint], float],
) -> SearchResult | None:
    """Return the best of the candidates, up to a good one; None where there is none."""
    found: SearchResult | None = None
    for point, acceptance in candidates:
        if _proves_infeasible(point, impossible(point)):
            raise InfeasibleError
        other = _assess(dual, point, acceptance)
        if found is None or other.gap < found.gap:
            found = other
        if found.gap <= _GOOD:
            break
    return found


def _candidates(dual: Dual, start: Floats, impossible: float) -> Iterator[tuple[DualPoint, Floats | None]]:
    """Return points, and acceptances where they are not the answers there.

    Columns are quicker where rows are few and acceptances jump, so that few owners draw.
    """
    owners, z, radius = dual.owners, np.append(start[0] * dual.speaks[0], start[1:]), _FAR
    if (
        owners.n <= FEW
        and (_asks(owners.statement) or isinstance(owners.utility, Linear))
        and (owners.jumps or not math.isfinite(impossible))
    ):
        return
    for size in itertools.takewhile(lambda size: size < owners.n, (_SAMPLE << k for k in itertools.count(0, 3))):
        few, share = _sample(dual, size)
        *_, (near, _) = descend(few, z, radius, impossible * share)
        z, radius = (near.z, size**-0.5) if near.value >= impossible * share else (z, radius)
    yield from descend(dual, z, radius, impossible)


def _asks(statement: Statement) -> bool:
    """Return whether rows or least acceptances may be out of reach."""
    return bool(statement.names) or bool(np.any(statement.lowest > 0))


def _sample(dual: Dual, size: int) -> tuple[Dual, float]:
    """Return the dual of a sample under its share of each limit, and the share."""
    owners = dual.owners
    some = np.arange(0, owners.n, owners.n // size + 1)
    share = float(dual.m[some].sum() / dual.m.sum())
    few = owners.statement.take(some)
    few = dataclasses.replace(few, at_most=share * few.at_most)
    return Dual(Owners(few, owners.utility.take(some)), share * float(dual.r[0])), share


def _by_columns(dual: Dual, budget: float, found: SearchResult | None) -> SearchResult | None:
    """Search the columns of all rows; keep what was found if it is better."""
    from smqopt.solvers.columns._column_search import ColumnSearch  # noqa: PLC0415 -- loads HiGHS

    owners = dual.owners
    columns = ColumnSearch(owners.statement, owners.utility, float(dual.r[0]), budget)
    answer = columns.run()
    if not answer.is_feasible:
        raise InfeasibleError
    tried = [] if found is None else [found]
    tried.append(_assess(dual, dual.at(answer.z), answer.acceptance))
    if tried[-1].gap > _GOOD:
        tried += [_assess(dual, *one) for one in descend(dual, answer.z, _CLOSE, -math.inf)]
    return min(tried, key=lambda one: one.gap)


def _proves_infeasible(point: DualPoint, impossible: float) -> bool:
    return point.value < impossible - _ROUNDING * point.size


def _assess(dual: Dual, point: DualPoint, acceptance: Floats | None = None) -> SearchResult:
    """Return the offers for a point, and how far they are from bound and rows."""
    offers = recover(dual, point, acceptance)
    left, terms = dual.left(offers.acceptance, offers.spend), dual.terms(offers.acceptance, offers.spend)
    if point.z[0] > 0 and not active_rows(dual, point, left)[0]:  # money that is left has no price
        point = dual.at(np.append(0.0, point.z[1:]))
    gap = abs(point.value - dual.owners.value(offers.acceptance)) / max(abs(point.value), np.finfo(float).tiny)
    over = np.where(dual.equal, np.abs(left), np.maximum(-left, 0.0))
    broken = float(np.max(over / np.maximum(terms, np.finfo(float).tiny)))
    return SearchResult(point, offers, max(gap, broken))


def _total(statement: Statement, offers: Offers) -> float:
    return exact_dot(offers.spend, statement.weights(), up=True)
