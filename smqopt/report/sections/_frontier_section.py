"""The frontier as a section."""

from __future__ import annotations

from smqopt.document import Section, column, shown
from smqopt.report._frontier_figure import DrawnFrontier, frontier_figure
from smqopt.report._thinning import thin

_ROWS = 6


def frontier_section(frontier: DrawnFrontier, *, brief: bool = False) -> Section:
    """Draw the frontier, and list some of its points.

    In brief its slope is not set as a formula.
    """
    rows = thin(frontier.budgets, _ROWS)
    columns = (
        column(frontier.budgets[rows].tolist(), 5),
        column(frontier.privacy[rows].tolist(), 6),
        [shown(price, 5) for price in frontier.prices[rows].tolist()],
    )
    return Section(
        "frontier",
        "The frontier",
        "frontier.html",
        {
            "brief": brief,
            "figure": frontier_figure(frontier),
            "rows": list(zip(*columns, strict=True)),
            "gap": shown(frontier.gap, 2),
            "too_small": None if frontier.too_small is None else shown(frontier.too_small, 5),
            "count": shown(int(frontier.budgets.size)),
        },
    )
