"""Which constraints cannot hold together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smqopt.program.constraints.statement import Statement, state
from smqopt.solvers.irreducible import BUDGET, irreducible
from smqopt.solvers.structured.search import search

__all__ = ["blamed", "is_feasible_alone"]


def blamed(statement: Statement, budget: float) -> tuple[str, ...]:
    """Name constraints that cannot hold together, and could if any one of them went."""
    market, records = statement.market, statement.records
    conflict = statement.conflict()
    plenty = 2.0 * float(np.sum(statement.weights() * statement.reduced.high)) + budget

    def is_feasible(kept: Sequence[int | None]) -> bool:
        stated = state(market, [records[number] for number in kept if number is not None])
        return _is_feasible(stated, budget if None in kept else plenty)

    numbers: list[int | None] = [*range(len(records))] if conflict is None else [*conflict]
    found = irreducible([*numbers, None], is_feasible)  # None stands for the budget
    return tuple(BUDGET if number is None else records[number].words for number in found)


def is_feasible_alone(statement: Statement, budget: float) -> bool:
    """Look at what needs no search: bounds that leave no acceptance, and a budget of 0."""
    if statement.conflict() is not None:
        return False
    if budget > 0:
        return True
    nothing = np.zeros(statement.reduced.n)
    left = statement.at_most - statement.usage(nothing, nothing)
    return not np.any(statement.lowest > 0) and bool(np.all(np.where(statement.equal, left == 0, left >= 0)))


def _is_feasible(statement: Statement, budget: float) -> bool:
    return is_feasible_alone(statement, budget) and (budget == 0 or search(statement, budget) is not None)
