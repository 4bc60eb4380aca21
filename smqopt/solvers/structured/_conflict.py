"""Which constraints cannot hold together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smqopt.market import Linear, Objective, Statement, state
from smqopt.numeric import BUDGET_MARGIN
from smqopt.solvers._irreducible_subset import BUDGET, irreducible
from smqopt.solvers.structured._search import FEW, search

_VALUE = -1
"""Stands for a finite value of the objective among the numbers of records."""


def find_conflict(statement: Statement, budget: float, objective: Objective | None = None) -> tuple[str, ...]:
    """Name constraints that cannot hold together, and could if any one of them went.

    A finite value of the objective may be one of them.
    """
    market, records = statement.market, statement.records
    conflict = statement.conflict()
    plenty = 2.0 * float(np.sum(statement.weights() * statement.reduced.high)) + budget

    def is_feasible(kept: Sequence[int | None]) -> bool:
        stated = state(market, [records[number] for number in kept if number is not None and number >= 0])
        amount = budget if None in kept else plenty
        if needs and _VALUE in kept and not has_value(stated, amount, objective):
            return False
        return _is_feasible(stated, amount)

    needs = objective is not None and not has_value(statement, budget, objective)
    numbers: list[int | None] = [*range(len(records))] if conflict is None else [*conflict]
    value = [_VALUE] if needs and conflict is None else []
    found = irreducible([*numbers, None, *value], is_feasible)  # None stands for the budget
    return tuple(_words(number, statement, objective) for number in found)


def _words(number: int | None, statement: Statement, objective: Objective | None) -> str:
    if number is None:
        return BUDGET
    if number == _VALUE:
        assert objective is not None  # noqa: S101
        return f"a finite value of {objective.words}"
    return statement.records[number].words


def has_value(statement: Statement, budget: float, objective: Objective | None) -> bool:
    """Return whether all whom the objective needs may get an offer."""
    if objective is None:
        return True
    needed = statement.utility(objective).needed
    return not np.any(needed) if budget == 0 else not np.any(needed & (statement.highest <= 0))


def is_feasible_alone(statement: Statement, budget: float) -> bool:
    """Look at what needs no search.

    bounds that leave no acceptance, and a budget of 0.
    """
    if statement.conflict() is not None:
        return False
    if budget > 0:
        return True
    nothing = np.zeros(statement.reduced.n)
    left = statement.at_most - statement.usage(nothing, nothing)
    return not np.any(statement.lowest > 0) and bool(np.all(np.where(statement.equal, left == 0, left >= 0)))


def _is_feasible(statement: Statement, budget: float) -> bool:
    if not is_feasible_alone(statement, budget):
        return False
    if budget == 0 or not (statement.names or np.any(statement.lowest > 0)):
        return True
    if statement.blocks is None and statement.reduced.n > FEW:
        return search(statement, budget) is not None
    from smqopt.solvers.columns._column_search import ColumnSearch  # noqa: PLC0415 -- loads HiGHS

    nothing = Linear(np.zeros(statement.reduced.n))
    return ColumnSearch(statement, nothing, budget * (1.0 - BUDGET_MARGIN.value), budget).holds()
