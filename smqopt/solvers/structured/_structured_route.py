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
from smqopt.market import Objective, Offers, Solution, Statement, Status, at_budget, priced_budget
from smqopt.numeric import POSTED_GAP, SIDE_ROW, Floats, FrozenDict, exact_dot
from smqopt.solvers._result import deliver, rounding_of_spend
from smqopt.solvers.structured._alike import merge_alike
from smqopt.solvers.structured._conflict import find_conflict, has_value, least_relaxations
from smqopt.solvers.structured._response import Owners
from smqopt.solvers.structured._row_excess import row_excess
from smqopt.solvers.structured._search import search

if TYPE_CHECKING:
    from smqopt.solvers.columns._column_answers import Found

_ANY = 1.0
"""A budget where nobody is paid."""
_GIVE = 2.0**-45, 2.0**-36
"""What limits may give way by, relative to them, where they leave no room: the last one is less
than `SIDE_ROW` lets a certificate pass."""


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
    stated, amount = at_budget(statement, budget), budget or _ANY
    if stated.conflict() is None and has_value(stated, objective):
        gives = _GIVE if with_conflict else ()
        found = _solve_or_loosen(stated, amount, objective, start, None if lotteries else gap, gives)
    if found is not None and budget == 0:
        found = dataclasses.replace(found, budget=0.0, budget_price=math.inf, status=Status.ZERO_BUDGET)
    elif found is not None and stated is not statement:  # rows ask for all the money
        with np.errstate(divide="ignore", over="ignore"):
            first = stated.utility(objective).slope(np.zeros(stated.reduced.n))
        z = priced_budget(statement, budget, np.append(found.budget_price, found.constraint_prices), first)
        status = Status.BINDING if z[0] > 0 else Status.SLACK
        found = dataclasses.replace(found, budget_price=float(z[0]), constraint_prices=z[1:], status=status)
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
    of_F = 0.0 if fixed else rounding_of_spend(found)
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
        from smqopt.solvers.structured._block_route import solve_blocks  # noqa: PLC0415 -- loads HiGHS

        of_blocks = solve_blocks(statement, most, objective, budget)
        if of_blocks is None:
            return None
        answer, offers = of_blocks
        _require_rows(statement, offers)
        apart = (answer.upper - answer.lower) / max(abs(answer.upper), np.finfo(float).tiny)
        details = {"gap": float(apart), "upper_bound": float(answer.upper), "lower_bound": float(answer.lower)}
        return _deliver(statement, budget, offers, answer.z, {**details, **_law_weights(answer)})
    form = merge_alike(statement, objective)
    found = search(form, most, start, objective)
    if found is None:
        return None
    return _deliver(statement, budget, form.offers_to_owners(found.offers), found.point.z, {"gap": found.gap})


def _law_weights(found: Found) -> dict[str, tuple[float, ...]]:
    return {"law_weights": tuple(found.weights.tolist())} if found.weights.size > 1 else {}


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
