"""OP2 where rows share posted prices, by column generation and Newton steps."""

from __future__ import annotations

import dataclasses

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import Objective, Offers, Statement
from smqopt.numeric import BUDGET_MARGIN, GAP, exact_dot
from smqopt.solvers.columns._along_tangents import along_tangents
from smqopt.solvers.columns._block_offers import offers_with_blocks
from smqopt.solvers.columns._column_answers import GOOD, Found
from smqopt.solvers.columns._column_search import ColumnSearch
from smqopt.solvers.columns._draws import draw, merge
from smqopt.solvers.columns._polish import polish
from smqopt.solvers.structured._row_excess import row_excess
from smqopt.solvers.structured._search import RAISE

_WORSE = 1e-12
"""By what a polished answer may widen the bracket, relative to the bound."""
_ROUGH = 2.0**-13, 2.0**-19, 2.0**-25
"""Where bounds are so near to each other, relatively, Newton steps are tried."""
_PATIENCE = 6
"""Rounds in which bounds may come no nearer before tangents are tried."""
_CLOSE = (GOOD, _PATIENCE), (GOOD, 4 * _PATIENCE)
"""How near they are to come in the end, and the rounds that may take."""
_LITTLE_ROOM = 2.0**-10
"""Where tangents bring bounds so much nearer interior steps do not."""
_PASSES = 0.5 * GAP.value
"""Of a gap, relative to the bound: a certificate lets it pass."""
_TRIES, _ROUNDING = 6, 2.0**-50
"""Of rows that rounding breaks, made tighter; what that may be worth, relative to the bound."""


def solve_blocks(statement: Statement, most: float, objective: Objective, budget: float) -> tuple[Found, Offers] | None:
    """Return an answer and its offers.

    None where multipliers prove that there are none. `most` is the budget, or all that can be
    spent, if that is less.
    """
    blocks = statement.blocks
    assert blocks is not None  # noqa: S101
    margin, tighter = BUDGET_MARGIN.value, 0.0 * statement.at_most
    search = ColumnSearch(statement, objective, most * (1.0 - margin), most)
    found: Found | None = None
    for number in range(_TRIES):
        if number:
            form = dataclasses.replace(statement, at_most=statement.at_most - tighter)
            search.limit(form, most * (1.0 - margin), most)
        if number % 2 == 0:  # else Newton steps alone may meet the limits
            try:
                one = _search_all(search, most, margin) if found is None else _search_again(search, found, most, margin)
            except SolverError:
                if number:
                    break
                raise
        elif found is not None:
            one = _newton_answer(search, found)
        if not one.is_feasible:
            if number:
                break  # that tighter rows cannot be kept proves nothing of these
            return None
        found = one
        lots = found.group, found.price, found.share
        singles = search.singles.offers(found.z, found.acceptance, search.usage_of_blocks(*lots))
        offers = offers_with_blocks(statement, singles, search.singles.rows, lots)
        over = row_excess(statement, offers)[0]
        keeps_rows = abs(found.z[1:]) @ np.maximum(over, 0.0) <= _ROUNDING * abs(found.upper)
        keeps_budget = exact_dot(offers.spend, statement.market.weights, up=True) <= budget
        if keeps_budget and keeps_rows:
            break
        margin *= 1.0 if keeps_budget else 8.0
        tighter += np.where(statement.equal, 0.0, np.where(over > 0, 2.0 * over + tighter, 0.0))
    assert found is not None  # noqa: S101
    if found.lower == 0:  # the rounding of multipliers could be all of the bound
        higher = search.bounds(dataclasses.replace(found, z=found.z * (1.0 + RAISE)))
        found = higher if higher.upper < found.upper else found
    return found, offers


def _search_all(search: ColumnSearch, most: float, margin: float) -> Found:
    """Return the best answer of searches that come ever nearer."""
    if search.is_linear:
        return _solve_linear(search)
    best: Found | None = None
    for enough, patience in (*((each, _PATIENCE) for each in _ROUGH if search.starts_rough), *_CLOSE):
        answer = search.run(enough, patience)
        one = _newton_answer(search, answer)
        if one.is_feasible and np.isfinite(search.slopes(one)).all():
            one = search.bounds(one)  # a rough search is content with what known prices gain
        before, stalled = _apart(one), _apart(answer) > enough
        if one.is_feasible and stalled and GOOD < before < (np.inf if best is None else _apart(best)):
            one = along_tangents(search, one, _solve_linear, most, margin)
        if best is None or (search.keeps(one), -_apart(one)) > (search.keeps(best), -_apart(best)):
            best = one
        if not one.is_feasible or _apart(best) <= _PASSES or _apart(one) <= _LITTLE_ROOM * before:
            break
    assert best is not None  # noqa: S101
    return best


def _search_again(search: ColumnSearch, found: Found, most: float, margin: float) -> Found:
    """Return the best answer under limits that have changed by roundings."""
    if not search.is_linear:
        one = along_tangents(search, found, _solve_linear, most, margin, anew=True)
        if _apart(one) <= max(_PASSES, 2.0 * _apart(found)):  # no worse than before
            return one
    return _search_all(search, most, margin)


def _solve_linear(search: ColumnSearch) -> Found:
    return _newton_answer(search, search.run())


def _apart(found: Found) -> float:
    return abs(found.upper - found.lower) / max(abs(found.upper), np.finfo(float).tiny)


def _newton_answer(search: ColumnSearch, found: Found) -> Found:
    """Return the answer after Newton steps, unless that is worse."""
    if not found.is_feasible:
        return found
    polished, found = (draw(search, one) for one in (polish(search, merge(search, found)), found))
    apart, before = (abs(one.upper - one.lower) for one in (polished, found))
    worse = apart > before + _WORSE * abs(found.upper)
    return polished if search.keeps(polished) and (not worse or not search.keeps(found)) else found
