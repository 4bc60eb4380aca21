"""Answers along tangents of an objective that bends.

Where limits leave little room it hardly bends there, and interior steps have no room at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from smqopt.market import Linear
from smqopt.solvers.columns._column_answers import GOOD, Found
from smqopt.solvers.columns._column_search import ColumnSearch

_NEARER = 2.0**-4
"""Of what was left; where an objective hardly bends, steps gain more."""
_TIED = 2.0**-12
"""Laws as bad as the worst one, relative to the bound."""


def along_tangents(
    search: ColumnSearch,
    found: Found,
    solve: Callable[[ColumnSearch], Found],
    budget: float,
    margin: float,
    *,
    anew: bool = False,
) -> Found:
    """Return what is best along tangents, while that comes far nearer to the bound.

    Parameters
    ----------
    search
        Of the objective that bends.
    found
        Its answer so far.
    solve
        Solves the same with a linear objective.
    budget, margin
        B, and the share of it that is for rounding.
    anew
        Whether the answer is of other limits, so that its bounds say nothing.
    """
    while anew or found.upper - found.lower > GOOD * abs(found.upper):
        under = search.values(search.acceptance(found))
        weights = np.where(under <= np.min(under) + _TIED * abs(found.upper), found.weights, 0.0)
        weights = weights / np.sum(weights) if weights.any() else found.weights
        slopes = search.slopes(replace(found, weights=weights))
        if not np.isfinite(slopes).all():
            break
        one = solve(ColumnSearch(search.statement, Linear(slopes), budget * (1.0 - margin), budget))
        if not one.is_feasible:
            break
        one = search.bounds(replace(one, weights=weights))
        if not anew and not abs(one.upper - one.lower) <= _NEARER * (found.upper - found.lower):
            break
        found, anew = one, False
    return found
