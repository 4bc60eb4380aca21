"""One posted price each: a mixed-integer program under the bound of lotteries."""

from __future__ import annotations

import dataclasses

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import Objective, Offers, Statement, price_floors
from smqopt.numeric import BUDGET_MARGIN, Floats, Indices
from smqopt.solvers.columns._block_offers import offers_with_blocks, posted_lots
from smqopt.solvers.columns._column_answers import Found
from smqopt.solvers.columns._column_search import ColumnSearch
from smqopt.solvers.structured._dual import DualPoint
from smqopt.solvers.structured._response import Owners

FEW_POSTED = 256
"""Rows among which one posted price each is sought; of more, those that draw or nearly do."""
_NEAR, _WIDER = 2.0**-24, 4.0
"""How near to a flat piece a row's price must be to count, at first, and the factor to the next
try."""


def post_prices(statement: Statement, objective: Objective, budget: float, gap: float) -> tuple[Found, Offers] | None:
    """Post one price to each row and block; None where nothing keeps the rows.

    The gap is that between what is found and the best over the same prices, relative.
    """
    search = ColumnSearch(statement, objective, budget * (1.0 - BUDGET_MARGIN.value), budget)
    relaxed = search.run()
    if not relaxed.is_feasible:
        return None
    found = search.post(relaxed, gap)
    if found is None:
        return None
    rows = search.singles.rows
    offers = _offers(statement, rows, found.acceptance)
    if statement.blocks is None:
        return found, statement.offers_to_owners(offers)
    lots = posted_lots(statement.blocks, found.group, found.price, found.share)
    return found, offers_with_blocks(statement, offers, rows, lots)


def post_to_ties(owners: Owners, point: DualPoint, offers: Offers, budget: float, gap: float) -> Offers:
    """Post one price to rows who draw or nearly do; the others keep theirs.

    Point and offers are the optimum of lotteries.
    """
    statement, drawn = owners.statement, offers.lottery
    assert drawn is not None  # noqa: S101
    rows, near = drawn.owner, _NEAR
    while rows.size < FEW_POSTED and near < 1.0:
        tied = owners.between(point.answer.v / (1.0 + near), point.answer.v / (1.0 - near)).owner
        wider = np.union1d(drawn.owner, tied)
        if wider.size > FEW_POSTED:
            break
        rows, near = wider, _WIDER * near
    rest = np.ones(owners.n)
    rest[rows] = 0.0
    q, spend = rest * offers.acceptance, rest * offers.spend
    small = statement.take(rows)
    small = dataclasses.replace(small, at_most=small.at_most - statement.usage(q, spend))
    margin = BUDGET_MARGIN.value * budget  # for the roundings of all
    left = budget - margin - float(np.sum(statement.weights() * spend))
    search = ColumnSearch(small, owners.utility.take(rows), left - margin, left)
    found = search.post(search.run(), gap)
    if found is None:
        raise SolverError(
            "structured solver",
            "found no prices without lotteries beside those that the optimum of lotteries posts",
            remedy="allow lotteries, or relax a constraint a little",
        )
    posted = _offers(small, np.arange(rows.size), found.acceptance)
    thresholds, acceptance = offers.thresholds.copy(), offers.acceptance.copy()
    thresholds[rows], acceptance[rows] = posted.thresholds, posted.acceptance
    return Offers(thresholds, acceptance)


def _offers(statement: Statement, rows: Indices, acceptance: Floats) -> Offers:
    """Return the least prices with some acceptances, of rows on their own.

    Numbers of a program's own are no prices, and stay.
    """
    law = statement.reduced.valuation.take(rows)
    thresholds = np.where(acceptance > 0, np.maximum(law.ppf(acceptance), price_floors(law, rows.size)), law.low)
    posted = np.where(acceptance > 0, law.cdf(thresholds), 0.0)
    return Offers(thresholds, np.where(statement.stand_ins()[rows], acceptance, posted))
