"""OP2 with linear side constraints.

From a statement to a solution, or to the constraints that cannot hold together.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import Objective, Offers, Solution, Statement, Status, without_money
from smqopt.numeric import BUDGET_MARGIN, POSTED_GAP, SIDE_ROW, Floats, FrozenDict, exact_dot
from smqopt.solvers._result import deliver
from smqopt.solvers.structured._alike import merge_alike
from smqopt.solvers.structured._conflict import find_conflict, has_value, least_relaxations
from smqopt.solvers.structured._response import Owners
from smqopt.solvers.structured._search import RAISE, search

if TYPE_CHECKING:
    from smqopt.solvers.columns._column_answers import Found
    from smqopt.solvers.columns._column_search import ColumnSearch

_WORSE = 1e-12
"""By what a polished answer may widen the bracket, relative to the bound."""
_ROUGH = 2.0**-13, 2.0**-19, 2.0**-25
"""Where bounds are so near to each other, relatively, Newton steps are tried."""
_ANY = 1.0
"""A budget where nobody is paid."""
_GIVE = 2.0**-45, 2.0**-36
"""What limits may give way by, relative to them, where they leave no room: the last one is less
than `SIDE_ROW` lets a certificate pass."""
_TRIES, _ROUNDING = 6, 2.0**-50
"""Of rows that rounding breaks, made tighter; what that may be worth, relative to the bound."""


def solve_statement(
    statement: Statement,
    budget: float,
    *,
    objective: Objective,
    lotteries: bool = True,
    gap: float = POSTED_GAP.value,
    start: Floats | None = None,
    with_conflict: bool = True,
) -> Solution:
    """Solve OP2 with linear side constraints by its dual.

    Without lotteries one price is posted to each, by a mixed-integer program that may end at `gap`.
    `start` holds multipliers from which the search begins, the budget's first, shape (k + 1,).
    Where no thresholds satisfy all constraints the status is INFEASIBLE, nobody gets an offer, and
    `conflict` names constraints of which each is needed for that; to look for it takes long.
    """
    found = None
    stated, amount = (without_money(statement), _ANY) if budget == 0 else (statement, budget)
    if stated.conflict() is None and has_value(stated, objective):
        gives = _GIVE if with_conflict else ()
        found = _solve_or_loosen(stated, amount, objective, start, None if lotteries else gap, gives)
    if found is not None and budget == 0:
        found = dataclasses.replace(found, budget=0.0, budget_price=math.inf, status=Status.ZERO_BUDGET)
    if found is None:
        found = _offer_nothing(statement, budget)
    if found.status is Status.INFEASIBLE and with_conflict:
        conflict = find_conflict(statement, budget, objective, lotteries=lotteries)
        details = FrozenDict({"relax_by": least_relaxations(statement, budget, conflict)})
        found = dataclasses.replace(found, conflict=conflict, details=details)
    return dataclasses.replace(found, objective=objective)


def _solve_or_loosen(
    statement: Statement,
    budget: float,
    objective: Objective,
    start: Floats | None,
    posted_gap: float | None,
    gives: tuple[float, ...],
) -> Solution | None:
    """Solve a statement; limits without room for rounding give way a little.

    What cannot be solved then, either, is left as it was found first.
    """
    first: Solution | SolverError | None = None
    for share in (0.0, *gives):
        form = statement.loosen(share) if share else statement
        try:
            found = _solve(form, budget, objective, start, posted_gap)
        except SolverError as error:
            first = first or error
            continue
        if found is None or _keeps(statement, budget, found):
            return found
        first = first or found
    if isinstance(first, SolverError):
        raise first
    return first


def _keeps(statement: Statement, budget: float, found: Solution) -> bool:
    """Say whether offers keep all rows, and the budget by more than rounding."""
    share = row_excess(statement, Offers(found.thresholds, found.acceptance, found.lottery))[1]
    paid = found.market.weights * found.spend
    fixed = statement.blocks is not None and bool(np.any(statement.blocks.floor))  # floors would give way for it
    of_F = 0.0 if fixed else BUDGET_MARGIN.value / 4 * float(np.sum(paid[found.acceptance < 1]))
    return bool(np.all(share <= SIDE_ROW.value) and exact_dot(paid, np.ones(paid.size), up=True) + of_F <= budget)


def _solve(
    statement: Statement, budget: float, objective: Objective, start: Floats | None, posted_gap: float | None
) -> Solution | None:
    """Return a solution; None where multipliers prove that there is none."""
    enough = 2.0 * statement.most_that_can_be_spent()  # more money changes nothing, and could leave the doubles
    most = min(budget, enough) if enough > 0 else budget
    if posted_gap is not None:
        return _post_prices(statement, most, objective, posted_gap, budget)
    if statement.blocks is not None:
        return _solve_with_blocks(statement, most, objective, budget)
    form = merge_alike(statement, objective)
    found = search(form, most, start, objective)
    if found is None:
        return None
    return _deliver(statement, budget, form.offers_to_owners(found.offers), found.point.z, {"gap": found.gap})


def _solve_with_blocks(statement: Statement, most: float, objective: Objective, budget: float) -> Solution | None:
    """Solve where rows share posted prices, by column generation."""
    from smqopt.solvers.columns._block_offers import offers_with_blocks  # noqa: PLC0415 -- loads HiGHS
    from smqopt.solvers.columns._column_answers import GOOD  # noqa: PLC0415
    from smqopt.solvers.columns._column_search import ColumnSearch  # noqa: PLC0415

    blocks = statement.blocks
    assert blocks is not None  # noqa: S101
    margin, tighter = BUDGET_MARGIN.value, 0.0 * statement.at_most
    search = ColumnSearch(statement, objective, most * (1.0 - margin), most)
    for number in range(_TRIES):
        if number:
            form = dataclasses.replace(statement, at_most=statement.at_most - tighter)
            search.limit(form, most * (1.0 - margin), most)
        if number % 2 == 0:  # else Newton steps alone may meet the limits
            for enough in (*_ROUGH, GOOD) if search.starts_rough else (GOOD,):
                try:
                    answer = search.run(enough)
                except SolverError:
                    if number:
                        break
                    raise
                one = _newton_answer(search, answer)
                if not one.is_feasible or one.upper - one.lower <= GOOD * abs(one.upper):
                    break
        else:
            one = _newton_answer(search, one)
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
    _require_rows(statement, offers)
    if found.lower == 0:  # the rounding of multipliers could be all of the bound
        higher = search.bounds(dataclasses.replace(found, z=found.z * (1.0 + RAISE)))
        found = higher if higher.upper < found.upper else found
    gap = float((found.upper - found.lower) / max(abs(found.upper), np.finfo(float).tiny))
    details = {"gap": gap, "upper_bound": float(found.upper), "lower_bound": float(found.lower)}
    return _deliver(statement, budget, offers, found.z, {**details, **_law_weights(found)})


def _law_weights(found: Found) -> dict[str, tuple[float, ...]]:
    return {"law_weights": tuple(found.weights.tolist())} if found.weights.size > 1 else {}


def _newton_answer(search: ColumnSearch, found: Found) -> Found:
    """Return the answer after Newton steps, unless that is worse."""
    from smqopt.solvers.columns._draws import draw, merge  # noqa: PLC0415 -- loads HiGHS
    from smqopt.solvers.columns._polish import polish  # noqa: PLC0415

    if not found.is_feasible:
        return found
    polished, found = (draw(search, one) for one in (polish(search, merge(search, found)), found))
    apart, before = (abs(one.upper - one.lower) for one in (polished, found))
    worse = apart > before + _WORSE * abs(found.upper)
    return polished if search.keeps(polished) and (not worse or not search.keeps(found)) else found


def row_excess(statement: Statement, offers: Offers) -> tuple[Floats, Floats]:
    """Return what offers break rows by; that, and its share of their terms."""
    first = statement.first_owner
    q, spend = offers.acceptance[first], offers.spend[first]
    over = statement.usage(q, spend) - statement.at_most
    terms = abs(statement.acceptance) @ q + abs(statement.spend) @ spend + np.abs(statement.at_most)
    over = np.where(statement.equal, np.abs(over), over)
    over[[statement.records[k].read_from_prices for k in statement.record_of_row]] = 0.0
    return over, over / np.maximum(terms, np.finfo(float).tiny)


def _require_rows(statement: Statement, offers: Offers) -> None:
    """Refuse offers that break a row."""
    share = row_excess(statement, offers)[1]
    worst = int(np.argmax(share)) if share.size else 0
    if share.size and share[worst] > SIDE_ROW.value:
        raise SolverError(
            "structured solver",
            "found no offers that keep every constraint to the last digits",
            value=f"{statement.names[worst]}, broken by {share[worst]:.1e} of its terms",
            remedy="relax the constraint a little, or scale it",
        )


def _post_prices(statement: Statement, most: float, objective: Objective, gap: float, budget: float) -> Solution | None:
    """Post one price each; the bound stays that of lotteries."""
    from smqopt.solvers.structured._posted_prices import FEW_POSTED, post_prices, post_to_ties  # noqa: PLC0415

    utility, weights = statement.utility(objective), dict[str, tuple[float, ...]]()
    if statement.blocks is not None or statement.reduced.n <= FEW_POSTED:
        posted = post_prices(statement, objective, most, gap)
        if posted is None:
            return None
        found, offers = posted
        weights = _law_weights(found)
        z, upper, lower = found.z, found.upper, found.lower
    else:
        relaxed = search(statement, most, None, objective)
        if relaxed is None:
            return None
        owners, on_rows = Owners(statement, utility), relaxed.offers
        if on_rows.lottery is not None:
            on_rows = post_to_ties(owners, relaxed.point, on_rows, most, gap)
        z, upper, lower = relaxed.point.z, relaxed.point.value, owners.value(on_rows.acceptance)
        offers = statement.offers_to_owners(on_rows)
    _require_rows(statement, offers)
    apart = (upper - lower) / max(abs(upper), abs(lower), np.finfo(float).tiny)
    details = {"gap": apart, "posted_gap": apart, "upper_bound": upper, "lower_bound": lower, **weights}
    return _deliver(statement, budget, offers, z, details)


def _offer_nothing(statement: Statement, budget: float) -> Solution:
    market = statement.market
    offers = Offers(market.low.copy(), np.zeros(market.n))
    nothing = _deliver(statement, budget, offers, np.zeros(1 + len(statement.names)), FrozenDict())
    return dataclasses.replace(nothing, status=Status.INFEASIBLE, budget_price=math.inf)


def _deliver(statement: Statement, budget: float, offers: Offers, z: Floats, details: Mapping[str, Any]) -> Solution:
    return deliver(
        "structured",
        statement.market,
        budget,
        offers,
        float(z[0]),
        Status.BINDING if z[0] > 0 else Status.SLACK,
        details,
        constraints=tuple(record.words for record in statement.records),
        records=statement.records,
        constraint_prices=z[1:],
    )
