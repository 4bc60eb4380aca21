"""A separable concave objective, OP2's among them, by one equation in λ.

For a given λ every owner's offer is chosen alone, φ_i′(q_i) = λ C̄_i′(q_i), and total spend falls
as λ rises, so one number is to be found. What two neighbouring prices still leave of the budget is
spent by going part of the way between their answers, which costs no more than in proportion, for C̄
is convex; owners who are tied on a flat piece of C̄ draw between its ends (errata E5, E17).

Postcondition (tests/solvers/test_dual.py, test_objectives.py): spend ≤ B whatever the order of
summation, and where it binds spend ≥ B (1 − 1e-12) − Σ ulp(θ_i)(F_i + θ_i f_i).
"""

from __future__ import annotations

import functools
import math

import numpy as np

from smqopt.market import (
    Linear,
    Market,
    Objective,
    Offers,
    Solution,
    Status,
    Utility,
    checked_budget,
    status_of,
)
from smqopt.numeric import BUDGET_MARGIN, BUDGET_SHORTFALL
from smqopt.solvers._irreducible_subset import BUDGET
from smqopt.solvers._result import deliver
from smqopt.solvers.price_search._curved_owners import CurvedOwners
from smqopt.solvers.price_search._linear_owners import LinearOwners
from smqopt.solvers.price_search._without_lotteries import one_price_each

_deliver = functools.partial(deliver, "dual", claims_response=True)
"""Make a solution that claims to be what the owners answer to its price."""


def solve_concave(
    market: Market, budget: float, objective: Objective, *, lotteries: bool = True, start: float | None = None
) -> Solution:
    """Maximise Σ m_i φ_i(q_i), or minimise its negative, within a budget.

    Parameters
    ----------
    market
        n owners.
    budget
        B ≥ 0, in currency.
    objective
        A separable objective.
    lotteries
        Whether owners on a flat piece of their ironed cost curve may draw between two thresholds.
        Without, each of them gets one of the two: the higher one as far as the budget goes, where
        φ is curved to those first to whom it is worth most for what it costs. Where it is linear
        what is lost is at most the jump of one owner, times the budget price.
    start
        1/λ to start the search from, where it is known roughly.

    Raises
    ------
    InputError
        If the budget is not a finite number ≥ 0, or the objective does not fit the market.
    SolverError
        If lotteries are forbidden and no thresholds without them give the objective a finite value.
    """
    B = checked_budget(budget)
    utility = objective.utility(market)
    status = status_of(market, B, objective)
    if status in (Status.ZERO_BUDGET, Status.INFEASIBLE):
        conflict = (BUDGET, f"a finite value of {objective.words}") if status is Status.INFEASIBLE else ()
        free = (market.low == 0) & utility.wanted & (status is Status.ZERO_BUDGET)  # an atom at 0 sells for nothing
        offers = Offers(market.low.copy(), np.where(free, market.valuation.cdf(market.low), 0.0))
        return _deliver(market, B, offers, math.inf, status, {"steps": 0}, objective=objective, conflict=conflict)
    if status is Status.SLACK:
        everybody = Offers(np.where(utility.wanted, market.high, market.low), utility.wanted.astype(np.float64))
        return _deliver(market, B, everybody, 0.0, status, {"steps": 0}, objective=objective)
    target, owners = B * (1.0 - BUDGET_MARGIN.value), _owners(market, utility)
    found, offers = owners.meet(target, start if start is not None and 0 < start < math.inf else None)
    if found.spend_below < B * (1.0 - 0.25 * BUDGET_SHORTFALL.value):
        offers = owners.fill(found, offers, target)
    if not lotteries and offers.lottery is not None:
        offers = one_price_each(market, utility, offers, target)
    price = owners.price(found, offers)
    return _deliver(market, B, offers, price, status, {"steps": found.steps}, objective=objective)


def price_alone(market: Market, utility: Utility, budget: float) -> float:
    """Return λ, 0 where the budget is slack; B > 0."""
    if float(np.sum(market.weights * utility.wanted * market.high)) <= budget:
        return 0.0
    return 1.0 / _owners(market, utility).meet(budget)[0].below


def _owners(market: Market, utility: Utility) -> LinearOwners | CurvedOwners:
    return LinearOwners(market, utility) if isinstance(utility, Linear) else CurvedOwners(market, utility)
