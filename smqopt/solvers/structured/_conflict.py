"""Which constraints cannot hold together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import (
    BUDGET_WORDS,
    ConstraintRecord,
    Linear,
    Market,
    Objective,
    PurchasedPrivacy,
    Statement,
    asks_without_end,
    state,
    without_money,
)
from smqopt.numeric import BUDGET_MARGIN, FrozenDict, irreducible
from smqopt.solvers.columns._column_answers import Found
from smqopt.solvers.structured._search import FEW, search

_MOST_FOR_RAYS = 2_000
"""Rows up to which a linear program over columns takes a moment."""
_FEW_NAMES, _MOST_RAYS = 8, 24
"""Constraints of a conflict for each of which more than one ray is sought, and how many."""
_ROUNDING = 2.0**-30
_LEAST = 2.0**-40
"""Rays are sought at no smaller budget, relative to the most that can be spent; they prove as much
of a smaller one."""
_VALUE = -1
"""Stands for a finite value of the objective among the numbers of records."""


def find_conflict(
    statement: Statement, budget: float, objective: Objective, *, lotteries: bool = True
) -> tuple[str, ...]:
    """Name constraints that cannot hold together, and could if any one of them went.

    A finite value of the objective may be one of them. Without lotteries one price is posted to
    each.
    """
    market, records = statement.market, statement.records
    nothing = budget == 0
    stated = without_money(statement) if nothing else statement
    conflict = stated.conflict()
    few = [records[k] for k in conflict or ()]
    if asks_without_end(market, few) or state(market, few, for_nothing=nothing).conflict() is None:
        conflict = None  # rows or highest prices of others stand behind these bounds
    plenty = 2.0 * statement.most_that_can_be_spent() + budget or 1.0

    def is_feasible(kept: Sequence[int | None]) -> bool:
        some = [records[number] for number in kept if number is not None and number >= 0]
        if asks_without_end(market, some):  # what states the highest price stays
            return True
        form = state(market, some, for_nothing=nothing and None in kept)
        if needs and _VALUE in kept and not has_value(form, objective):
            return False
        return _is_feasible(form, budget if None in kept and not nothing else plenty, lotteries=lotteries)

    needs = not has_value(stated, objective)
    numbers: list[int | None] = [*range(len(records))] if conflict is None else [*conflict]
    value = [_VALUE] if needs and conflict is None else []
    of_budget = [] if _is_in_rows(statement) else [None]  # None stands for the budget
    by_turn = sorted((n for n in numbers if n is not None), key=lambda n: _turn(records[n], market))
    found = irreducible([*by_turn, *of_budget, *value], is_feasible)
    found = (*sorted(n for n in found if n is not None and n >= 0), *(n for n in found if n is None or n < 0))
    return tuple(_words(number, statement, objective) for number in found)


def least_relaxations(statement: Statement, budget: float, conflict: Sequence[str]) -> Mapping[str, float]:
    """Return by how much each constraint must give way at least, if it alone does.

    A ray z proves it: with its limits larger by δ the dual rises by z δ, and must reach 0. Of few
    constraints rays are sought until there is none: then no more is needed, but for rounding.

    A row that gives way may let owners sell at prices that it rules out at its limit: these count,
    but where the budget gives way. In units of each constraint's limit, rounded down; of none where
    bounds of single owners, or a value, stand against each other, or the owners are too many.
    """
    from smqopt.solvers.columns._column_search import ColumnSearch  # noqa: PLC0415 -- loads HiGHS

    records = [record for record in statement.records if record.words in conflict]
    stated = state(statement.market, records)
    plenty = 2.0 * stated.most_that_can_be_spent() + budget
    in_rows = _is_in_rows(stated)
    amount = budget if BUDGET_WORDS in conflict and not in_rows else plenty
    if not amount > 0 or stated.reduced.n > _MOST_FOR_RAYS or stated.conflict() is not None:
        return FrozenDict({})
    more = max(amount, _LEAST * stated.most_that_can_be_spent())
    names = np.array(
        ["" if in_rows else BUDGET_WORDS, *(stated.records[number].words for number in stated.record_of_row)]
    )
    few = len(conflict) <= _FEW_NAMES

    def give_way(name: str, form: Statement, search: ColumnSearch, ray: Found) -> float:
        mine, far = names == name, 0.0
        again = few and not np.any(stated.equal & mine[1:])
        for _ in range(_MOST_RAYS if again else 1):
            price = float(np.abs(ray.z) @ mine)
            if not price > 0:
                return np.inf
            safe = _close_below(more + far * mine[0])[0]
            short = -(ray.upper + float(ray.z[0]) * (amount + far * mine[0] - safe))
            far += max(short, 0.0) / price
            if not again:
                break
            wider = dataclasses.replace(form, at_most=form.at_most + far * mine[1:])
            search.limit(wider, *_close_below(more + far * mine[0]))
            try:
                found = search.find_ray()
            except SolverError:  # neither a proof nor offers: at least so much
                break
            if found is None:
                break
            ray = found
        return float(far * (1.0 - _ROUNDING))

    found: dict[str, float] = {}
    for form, own in (
        (stated, {BUDGET_WORDS}),
        (state(statement.market, records, ties=False), {*conflict} - {BUDGET_WORDS}),
    ):
        wanted = [name for name in (BUDGET_WORDS, *conflict) if name in own.intersection(conflict, names)]
        search = ColumnSearch(form, Linear(np.zeros(form.reduced.n)), *_close_below(more))
        first = search.find_ray() if wanted else None
        if first is not None:
            found |= {name: give_way(name, form, search, first) for name in wanted}
    return FrozenDict({name: far for name, far in found.items() if np.isfinite(far)})


def _is_in_rows(statement: Statement) -> bool:
    """Say whether the budget is rows, one a law; the statement's own never binds."""
    return any(not record.name and record.words == BUDGET_WORDS for record in statement.records)


def _turn(record: ConstraintRecord, market: Market) -> int:
    """Return in which turn a record is left out to see whether the rest conflicts.

    First what says the budget in another way, last what states the highest price: without one
    others may ask for spend without end.
    """
    of_prices = record.price_list(market) is not None or any(True for _ in record.price_bounds(market))
    return 2 if of_prices else 0 if record.read_from_prices else 1


def _close_below(budget: float) -> tuple[float, float]:
    """Return what is to be kept, and the budget."""
    return budget * (1.0 - BUDGET_MARGIN.value), budget


def _words(number: int | None, statement: Statement, objective: Objective) -> str:
    if number is None:
        return BUDGET_WORDS
    if number == _VALUE:
        return f"a finite value of {objective.words}"
    return statement.records[number].words


def has_value(statement: Statement, objective: Objective) -> bool:
    """Return whether all whom the objective needs may get an offer."""
    return not np.any(statement.utility(objective).needed & (statement.highest <= 0))


def _is_feasible(statement: Statement, budget: float, *, lotteries: bool) -> bool:
    if statement.conflict() is not None:
        return False
    if not (statement.names or np.any(statement.lowest > 0)):
        return True
    if statement.blocks is None and statement.reduced.n > FEW:
        return search(statement, budget, None, PurchasedPrivacy()) is not None
    from smqopt.solvers.columns._column_search import ColumnSearch  # noqa: PLC0415 -- loads HiGHS

    nothing = Linear(np.zeros(statement.reduced.n))
    columns = ColumnSearch(statement, nothing, *_close_below(budget))
    if columns.find_ray() is not None:
        return False
    try:
        return lotteries or columns.post(columns.run(), 0.5) is not None
    except SolverError:  # none were found, and there may be some
        return True
