"""The frontier of a solved market, to be drawn."""

from __future__ import annotations

import numpy as np

from smqopt.document import column
from smqopt.market import Solution
from smqopt.questions import AtBudgets, Frontier, constrained_frontier, frontier
from smqopt.report import DrawnFrontier

_BUDGETS = 40
_LINES = 10


def frontier_of(solution: Solution) -> DrawnFrontier:
    """Solve at forty budgets up to the largest, closer together where V is steep.

    Parameters
    ----------
    solution
        The solution at the budget in force.
    """
    market, records = solution.market, solution.records
    solver = AtBudgets(market, records) if records else None
    largest = max(market.most_that_can_be_spent if solver is None else solver.most, solution.budget)
    budgets = largest * (np.arange(1, _BUDGETS + 1) / _BUDGETS) ** 2
    budgets = np.unique(budgets[budgets > 0]) if largest > 0 else np.zeros(1)
    if solver is None:
        return DrawnFrontier.of(frontier(market, budgets, verified=False), solution)
    return DrawnFrontier.of(constrained_frontier(solver, budgets, verified=False, with_conflict=False), solution)


def frontier_lines(found: Frontier) -> list[str]:
    """Lay out some rows for people: first, last, and the first feasible one."""
    rows = np.linspace(0, found.budgets.size - 1, _LINES).round().astype(np.intp)
    rows = np.unique(np.append(rows, np.flatnonzero(found.feasible)[:1]))
    columns = [["budget", *column(found.budgets[rows].tolist(), 6)]]
    for name, values in (("purchased privacy", found.purchased_privacy), ("budget price", found.budget_price)):
        feasible = rows[found.feasible[rows]]
        cells = dict(zip(feasible.tolist(), column(values[feasible].tolist(), 6), strict=True)) if feasible.size else {}
        columns.append([name, *(cells.get(row, found.status_names[row].lower()) for row in rows.tolist())])
    widths = [max(len(cell) for cell in cells) for cells in columns]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    ]
    if found.conflict:
        lines.append(
            f"infeasible: these cannot hold together, and could if any one of them went: {'; '.join(found.conflict)}"
        )
    return lines
