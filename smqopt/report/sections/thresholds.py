"""The thresholds: what each owner is offered, by her requirement."""

from __future__ import annotations

from smqopt.program.solution import Solution
from smqopt.report.figures import acceptance_figure, thresholds_figure
from smqopt.report.number_format import column
from smqopt.report.sections.section import Section
from smqopt.report.thinning import thinned

__all__ = ["thresholds_section"]

_EXAMPLES = 7
"""So many rows of the market stand in the table, evenly by rank of ε."""


def thresholds_section(solution: Solution) -> Section:
    """Show thresholds and acceptance against ε, and a few of them as numbers."""
    rows = thinned(solution.market.epsilon, _EXAMPLES)
    columns = (
        column(solution.market.epsilon[rows].tolist(), 5),
        column(solution.thresholds[rows].tolist(), 5),
        column(solution.acceptance[rows].tolist(), 5),
        column(solution.spend[rows].tolist(), 5),
    )
    return Section(
        "thresholds",
        "The thresholds",
        "thresholds.html",
        {
            "figures": [("thresholds", thresholds_figure(solution)), ("acceptance", acceptance_figure(solution))],
            "rows": list(zip(*columns, solution.offered[rows].tolist(), strict=True)),
            "all_rows": rows.size == solution.market.n,
        },
    )
