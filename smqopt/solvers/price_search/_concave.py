"""A separable concave objective by one equation in the budget price λ, as OP2 itself.

For a given λ every owner's offer is chosen alone, φ_i′(q_i) = λ C̄_i′(q_i), and total spend falls
as λ rises. Where every φ_i is strictly concave spend is continuous in λ, so that nobody is tied;
what two neighbouring prices still leave of the budget is spent by going part of the way between
their answers, which costs no more than in proportion, for C̄ is convex.

Postcondition (tests/solvers/test_objectives.py): spend ≤ B whatever the order of summation, and it
misses B by no more than in OP2.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from smqopt.market import (
    Choices,
    Lottery,
    Market,
    Objective,
    Solution,
    Status,
    Utility,
    checked_budget,
    choices,
    offers_from_acceptance,
    status_of,
)
from smqopt.numeric import BUDGET_MARGIN, BUDGET_SHORTFALL, Floats
from smqopt.solvers._irreducible_subset import BUDGET
from smqopt.solvers._result import delivered
from smqopt.solvers.price_search._bracketing import CLOSE, Found, search
from smqopt.solvers.price_search._without_lotteries import one_price_each

_response = functools.partial(delivered, "dual", claims_response=True)
"""Make a solution that claims to be what the owners answer to its price."""

_SAMPLE = 1 << 13
"""Rows in the sample that starts the search."""
_SAMPLE_CLOSE = 2.0**-14
_HALF = 0.5
"""The acceptance at which the first price is guessed."""


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
        Without, each of them gets one of the two: the higher one as far as the budget goes, to
        those first to whom it is worth most for what it costs.
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
        offers = (market.low.copy(), np.where(free, market.valuation.cdf(market.low), 0.0))
        return _response(market, B, offers, math.inf, status, {"steps": 0}, objective=objective, conflict=conflict)
    if status is Status.SLACK:
        everybody = (np.where(utility.wanted, market.high, market.low), utility.wanted.astype(np.float64))
        return _response(market, B, everybody, 0.0, status, {"steps": 0}, objective=objective)
    target = B * (1.0 - BUDGET_MARGIN.value)
    found, spending = _price(market, utility, target, start)
    price, below = 1.0 / found.below, spending.at(found.below)
    thresholds, acceptance, lottery = below.thresholds.copy(), below.acceptance.copy(), below.lottery()
    if found.spend_below < B * (1.0 - 0.25 * BUDGET_SHORTFALL.value):
        filled = _filled(market, below, spending.at(found.above), target)
        thresholds, acceptance, lottery = (thresholds, acceptance, lottery) if filled is None else filled
    if lottery is not None:
        thresholds[lottery.owner], acceptance[lottery.owner] = lottery.low, lottery.acceptance
        if not lotteries:
            thresholds, acceptance = one_price_each(market, utility, thresholds, acceptance, lottery, target)
            lottery = None
    offers, details = (thresholds, acceptance), {"steps": found.steps}
    return _response(market, B, offers, price, status, details, objective=objective, lottery=lottery)


def price_and_value(market: Market, utility: Utility, budget: float) -> tuple[float, float]:
    """Give the budget price λ, 0 where the budget is slack, and Σ m_i φ_i(q_i) at it; B > 0."""
    counts = market.weights
    everybody = utility.wanted.astype(np.float64)
    if float(np.sum(counts * everybody * market.high)) <= budget:
        return 0.0, float(np.sum(counts * utility.value(everybody)))
    found, spending = _price(market, utility, budget)
    return 1.0 / found.below, float(np.sum(counts * utility.value(spending.at(found.below).acceptance)))


class _Spending:
    """Total spend as a function of x = 1/λ; keeps the answers that bracket the target."""

    def __init__(self, market: Market, utility: Utility, target: float) -> None:
        self._market, self._utility, self._target = market, utility, target
        self._below: tuple[float, Choices] | None = None
        self._above: tuple[float, Choices] | None = None

    def __call__(self, x: float) -> float:
        near = self._below or self._above
        one = choices(self._market, self._utility, 1.0 / x, start=None if near is None else near[1].slope)
        total = _total(self._market, one.spend)
        if total <= self._target:
            self._below = (x, one)
        else:
            self._above = (x, one)
        return total

    def at(self, x: float) -> Choices:
        """Give the answers at x."""
        for kept in (self._below, self._above):
            if kept is not None and kept[0] == x:
                return kept[1]
        return choices(self._market, self._utility, 1.0 / x)


def _price(market: Market, utility: Utility, target: float, known: float | None = None) -> tuple[Found, _Spending]:
    """Search for x = 1/λ, from the answer for a sample where there are many rows."""
    steepest = float(np.max(utility.slope(np.full(market.n, _HALF))))
    start, slope = float(np.max(market.high)) / steepest, 1.0
    if known is not None and 0 < known < math.inf:
        start = known
    elif market.n > 4 * _SAMPLE:
        step = -(-market.n // _SAMPLE)
        rows = np.arange(step // 2, market.n, step, dtype=np.intp)
        counts = None if market.multiplicity is None else market.multiplicity[rows]
        few = Market(market.epsilon[rows], market.valuation.take(rows), multiplicity=counts)
        share = rows.size / market.n
        sample = _Spending(few, utility.take(rows), share * target)
        rough = search(sample, share * target, start, slope, _SAMPLE_CLOSE)
        start, slope = rough.below, rough.slope
    spending = _Spending(market, utility, target)
    return search(spending, target, start, slope, CLOSE), spending


def _total(market: Market, spend: Floats) -> float:
    counts = market.weights
    return math.fsum((counts * spend).tolist())


def _filled(
    market: Market, below: Choices, above: Choices, target: float
) -> tuple[Floats, Floats, Lottery | None] | None:
    """Spend what is left between the answers at two neighbouring prices; None where thresholds are too coarse for that."""
    least, most = _total(market, below.spend), _total(market, above.spend)
    if not most > least:
        return None
    share = min(max((target - least) / (most - least), 0.0), 1.0)
    between = below.acceptance + share * (above.acceptance - below.acceptance)
    thresholds, acceptance, lottery = offers_from_acceptance(market, between)
    spend = thresholds * acceptance
    if lottery is not None:
        spend[lottery.owner] = lottery.spend
    return (thresholds, acceptance, lottery) if least <= _total(market, spend) <= target else None
