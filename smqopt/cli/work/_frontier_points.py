"""The frontier of a solved market, to be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from smqopt.document import column
from smqopt.market import ConstraintRecord, Market, MeanSquaredError, Solution
from smqopt.questions import AtBudgets, ErrorFrontier, Frontier, constrained_frontier, error_frontier, frontier
from smqopt.report import DrawnFrontier
from smqopt.valuation import possible_laws

_BUDGETS, _BUDGETS_IN_DOUBT = 40, 10
_ERRORS = 20
_LINES = 10


def frontier_of(solution: Solution) -> DrawnFrontier:
    """Solve at forty budgets up to the largest, closer together where V is steep.

    At ten where laws are in doubt, which take longer.

    Parameters
    ----------
    solution
        The solution at the budget in force.
    """
    market, records = solution.market, solution.records
    solver = AtBudgets(market, records) if records else None
    largest = max(market.most_that_can_be_spent if solver is None else solver.most, solution.budget)
    count = _BUDGETS if possible_laws(market.valuation) is None else _BUDGETS_IN_DOUBT
    budgets = largest * (np.arange(1, count + 1) / count) ** 2
    budgets = np.unique(budgets[budgets > 0]) if largest > 0 else np.zeros(1)
    if solver is None:
        return DrawnFrontier.of(frontier(market, budgets, verified=False), solution)
    return DrawnFrontier.of(constrained_frontier(solver, budgets, verified=False, with_conflict=False), solution)


def errors_at(
    market: Market, budgets: ArrayLike | None, objective: MeanSquaredError, constraints: Sequence[ConstraintRecord]
) -> ErrorFrontier:
    """Find the least error at each budget; by default at twenty up to the most."""
    if budgets is None:
        budgets = market.most_that_can_be_spent * np.arange(1, _ERRORS + 1) / _ERRORS
    return error_frontier(market, budgets, objective, constraints=constraints)


def error_lines(found: ErrorFrontier) -> list[str]:
    """Lay out some rows for people, first and last among them."""
    rows = np.unique(np.linspace(0, found.budgets.size - 1, _LINES).round().astype(np.intp))
    named = (("budget", found.budgets), ("RMSE", found.error), ("at least", found.error_bound))
    return _lay_out([[name, *column(values[rows].tolist(), 6)] for name, values in named])


def frontier_lines(found: Frontier) -> list[str]:
    """Lay out some rows for people: first, last, and the first feasible one."""
    rows = np.linspace(0, found.budgets.size - 1, _LINES).round().astype(np.intp)
    rows = np.unique(np.append(rows, np.flatnonzero(found.feasible)[:1]))
    columns = [["budget", *column(found.budgets[rows].tolist(), 6)]]
    for name, values in (("purchased privacy", found.purchased_privacy), ("budget price", found.budget_price)):
        feasible = rows[found.feasible[rows]]
        cells = dict(zip(feasible.tolist(), column(values[feasible].tolist(), 6), strict=True)) if feasible.size else {}
        columns.append([name, *(cells.get(row, found.status_names[row].lower()) for row in rows.tolist())])
    lines = _lay_out(columns)
    if found.conflict:
        lines.append(
            f"infeasible: these cannot hold together, and could if any one of them went: {'; '.join(found.conflict)}"
        )
    return lines


def _lay_out(columns: list[list[str]]) -> list[str]:
    widths = [max(len(cell) for cell in cells) for cells in columns]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    ]
