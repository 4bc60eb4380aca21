"""A separable concave objective, OP2's among them, by one equation in λ.

For a given λ every owner's offer is chosen alone, φ_i′(q_i) = λ C̄_i′(q_i), and total spend falls
as λ rises, so one number is to be found: where φ is curved by the steps of side constraints, of
which there are none; where it is linear by a search on log λ. What two neighbouring prices then
leave of the budget is spent by going part of the way between their answers, which costs no more
than in proportion, for C̄ is convex; who is tied on a flat piece of C̄ draws between its ends
(errata E5, E17).

Postcondition (tests/solvers/test_dual.py, test_objectives.py): spend ≤ B whatever the order of
summation, and where it binds spend ≥ B (1 − 1e-12) − Σ ulp(θ_i)(F_i + θ_i f_i).
"""

from __future__ import annotations

import functools
import math

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import (
    BUDGET_WORDS,
    Linear,
    Market,
    Objective,
    Offers,
    Solution,
    Status,
    Utility,
    checked_budget,
    state,
    status_of,
)
from smqopt.numeric import BUDGET_MARGIN, BUDGET_SHORTFALL
from smqopt.solvers._result import deliver
from smqopt.solvers.price_search._linear_owners import meet
from smqopt.solvers.price_search._response import parts_of
from smqopt.solvers.price_search._tied_owners import rounded_price, spend_the_rest

_deliver = functools.partial(deliver, "dual", claims_response=True)
"""Make a solution that claims to be what the owners answer to its price."""


def solve_concave(market: Market, budget: float, objective: Objective, *, lotteries: bool = True) -> Solution:
    """Maximise Σ m_i φ_i(q_i), or minimise its negative, within a budget.

    Without lotteries owners on a flat piece of their ironed cost curve get one of its ends: the
    higher one as far as the budget goes, where φ is curved to those first to whom it is worth most
    for what it costs. Where it is linear what is lost is at most the jump of one owner, times the
    budget price.
    """
    B = checked_budget(budget)
    utility = objective.utility(market)
    status = status_of(market, B, objective)
    if status in (Status.ZERO_BUDGET, Status.INFEASIBLE):
        conflict = (BUDGET_WORDS, f"a finite value of {objective.words}") if status is Status.INFEASIBLE else ()
        free = (market.low == 0) & utility.wanted & (status is Status.ZERO_BUDGET)  # an atom at 0 sells for nothing
        offers = Offers(market.low.copy(), np.where(free, market.valuation.cdf(market.low), 0.0))
        return _deliver(market, B, offers, math.inf, status, {"steps": 0}, objective=objective, conflict=conflict)
    if status is Status.SLACK:
        everybody = Offers(np.where(utility.wanted, market.high, market.low), utility.wanted.astype(np.float64))
        return _deliver(market, B, everybody, 0.0, status, {"steps": 0}, objective=objective)
    target, details = B * (1.0 - BUDGET_MARGIN.value), {}
    if isinstance(utility, Linear):
        parts = parts_of(market, utility.each)
        found, answers = meet(parts, target, float(np.max(market.high)) / float(utility.each.max()), market.n)
        offers = Offers(answers.thresholds, answers.acceptance)
        if found.value_below < B * (1.0 - 0.25 * BUDGET_SHORTFALL.value):
            offers = spend_the_rest(market, utility.each, parts, found, offers, target)
        price, details = rounded_price(utility.each, offers, found.below), {"steps": found.steps}
    else:  # nobody is tied
        from smqopt.solvers.structured._search import search  # noqa: PLC0415 -- loads SciPy's sparse matrices

        near = search(state(market, ()), B, None, objective)
        assert near is not None  # noqa: S101 -- there is money
        offers, price = near.offers, float(near.point.z[0])
    if not lotteries and offers.lottery is not None:
        offers = _one_price_each(market, utility, offers, target)
    return _deliver(market, B, offers, price, status, details, objective=objective)


def _one_price_each(market: Market, utility: Utility, offers: Offers, target: float) -> Offers:
    """Return the higher threshold where it is worth most for its cost, else the lower.

    As far as the budget goes.
    """
    drawn = offers.lottery
    assert drawn is not None  # noqa: S101
    rows = drawn.owner
    counts = market.weights
    own = utility.take(rows)
    with np.errstate(invalid="ignore"):
        gain = own.value(drawn.high_acceptance) - own.value(drawn.low_acceptance)
    rise = drawn.high * drawn.high_acceptance - drawn.low * drawn.low_acceptance
    order = np.argsort(-gain / rise, kind="stable")
    theta, q = offers.thresholds.copy(), offers.acceptance.copy()
    theta[rows], q[rows] = drawn.low, drawn.low_acceptance
    left = target - float(np.sum(counts * theta * q))
    raised = order[np.cumsum((counts[rows] * rise)[order]) <= left]
    theta[rows[raised]], q[rows[raised]] = drawn.high[raised], drawn.high_acceptance[raised]
    if not np.isfinite(utility.value(q)).all():
        raise SolverError(
            "dual solver",
            "found no prices without lotteries that give the objective a finite value",
            value=f"budget {target:g}",
            remedy="allow lotteries, or raise the budget",
        )
    return Offers(theta, q)
