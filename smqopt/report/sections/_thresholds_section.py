"""The thresholds: what each owner is offered, by her requirement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.document import Section, column, shown
from smqopt.market import Solution
from smqopt.report._figures import acceptance_figure, thresholds_figure
from smqopt.report._thinning import thin

_EXAMPLES = 7
"""So many rows of the market stand in the table, evenly by rank of ε."""


def thresholds_section(solution: Solution, *, drawn_before: bool = False) -> Section:
    """Show thresholds and acceptance against ε, and a few of them as numbers.

    Thresholds are left out where the page has drawn them before.
    """
    figures = {} if drawn_before else {"thresholds": thresholds_figure(solution)}
    figures["acceptance"] = acceptance_figure(solution)
    rows = thin(solution.market.epsilon, _EXAMPLES)
    columns = (
        column(solution.market.epsilon[rows].tolist(), 5),
        _offers(solution, rows),
        column(solution.acceptance[rows].tolist(), 5),
        column(solution.spend[rows].tolist(), 5),
    )
    return Section(
        "thresholds",
        "The thresholds",
        "thresholds.html",
        {
            "figures": list(figures.items()),
            "rows": list(zip(*columns, strict=True)),
            "all_rows": rows.size == solution.market.n,
        },
    )


def _offers(solution: Solution, rows: NDArray[np.intp]) -> list[str]:
    """Write what each row is offered: a threshold, none, or one of several."""
    thresholds = column(solution.thresholds[rows].tolist(), 5)
    offers = [
        text if offered else "no offer"
        for text, offered in zip(thresholds, solution.offered[rows].tolist(), strict=True)
    ]
    if solution.lottery is None:
        return offers
    drawn = {row: k for k, row in enumerate(solution.lottery.owner.tolist())}
    for place, row in enumerate(rows.tolist()):
        if row in drawn:
            k = drawn[row]
            posted = zip(solution.lottery.prices[k].tolist(), solution.lottery.acceptances[k].tolist(), strict=True)
            offers[place] = " or ".join(dict.fromkeys(shown(price, 5) if q > 0 else "none" for price, q in posted))
    return offers
