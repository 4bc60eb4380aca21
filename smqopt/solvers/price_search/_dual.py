"""OP2 by one equation in the budget price λ.

For a given λ every owner answers alone: J_i(θ_i) = ε_i/λ, clipped to her support (KKT). Total spend
falls as λ rises, so one number is to be found (`price_search`). The search starts from the answer
for a few owners who stand for all: a sample, or where the laws' answers are in tables, a condensed
market that spends as much as the whole.

Postcondition (tests/solvers/test_dual.py): spend ≤ B whatever the order of summation, and spend ≥ B
(1 − 1e-12) − Σ ulp(θ_i)(F_i + θ_i f_i) where it binds.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

import numpy as np

from smqopt.market import Market, Solution, Status, checked_budget, status_of
from smqopt.numeric import BUDGET_MARGIN, BUDGET_SHORTFALL
from smqopt.solvers._result import delivered
from smqopt.solvers.price_search._aggregation import condensed
from smqopt.solvers.price_search._bracketing import CLOSE, Found, log_ratio, search
from smqopt.solvers.price_search._response import Answers, Part, answers, parts_of, spend
from smqopt.solvers.price_search._tied_owners import (
    fill,
    jumps,
    shared_lottery,
    tied_pieces,
    total_spend,
)

_response = functools.partial(delivered, "dual", claims_response=True)
"""Make a solution that claims to be what the owners answer to its price."""

_SAMPLE = 1 << 13
"""Owners of each part in the sample that starts the search."""
_SAMPLE_CLOSE = 2.0**-14
"""The sample is off by more than this anyway."""
_NEAR = 2.0**-46
"""So near to the target, relative to it, an answer from tables is taken: the estimates of spend are
not the delivered spend to the last digit."""
_AIM = 2.0**-50
"""How far below the target such an answer aims."""
_CORRECTIONS = 4
"""Corrections of such an answer before the search goes over all owners."""


def solve_market(market: Market, budget: float, *, lotteries: bool = True, start: float | None = None) -> Solution:
    """Solve OP2; where a law is not known to be regular its cost curve is ironed (errata E5, E17).

    Parameters
    ----------
    market
        n owners.
    budget
        B ≥ 0, in currency.
    lotteries
        Whether owners on a flat piece of their ironed cost curve may draw between two thresholds.
        Without, each of them gets one of the two, and what is lost is at most the jump of one of
        them, times the budget price.
    start
        Where the search begins, as 1/λ; anywhere by default.

    Returns
    -------
    Solution
        Thresholds to the last few digits; spend never above B.

    Raises
    ------
    InputError
        If the budget is not a finite number ≥ 0.
    """
    B = checked_budget(budget)
    status = status_of(market, B)
    if status is Status.ZERO_BUDGET:
        free = (market.low == 0) & (market.epsilon > 0)  # an atom at 0 sells for nothing
        acceptance = np.where(free, market.valuation.cdf(market.low), 0.0)
        return _response(market, B, (market.low.copy(), acceptance), math.inf, status, {"steps": 0})
    if status is Status.SLACK:
        sells = market.epsilon > 0
        thresholds = np.where(sells, market.high, market.low)
        return _response(market, B, (thresholds, sells.astype(np.float64)), 0.0, status, {"steps": 0})
    parts = parts_of(market)
    target = B * (1.0 - BUDGET_MARGIN.value)
    if start is None or not 0 < start < math.inf:
        start = float(np.max(market.valuation.high)) / float(market.epsilon.max())
    if any(part.table is not None for part in parts):
        found, every = _by_tables(parts, target, start, market.n)
    else:
        found, every = _by_owners(parts, target, start, market.n)
    thresholds, acceptance = every.thresholds, every.acceptance
    lottery = None
    if found.spend_below < B * (1.0 - 0.25 * BUDGET_SHORTFALL.value):
        tied = tied_pieces(parts, found)
        if tied is None:
            thresholds, acceptance = fill(market, parts, target, found, thresholds, acceptance)
        else:
            thresholds, acceptance = thresholds.copy(), acceptance.copy()
            thresholds[tied.owner], acceptance[tied.owner] = tied.low, tied.low_acceptance
            left = target - total_spend(market, thresholds, acceptance)
            if lotteries:
                lottery = shared_lottery(market, tied, left)
                acceptance[lottery.owner] = lottery.acceptance
            else:
                paid = np.cumsum(jumps(market, tied)) <= left
                raised = tied.owner[paid]
                thresholds[raised], acceptance[raised] = tied.high[paid], tied.high_acceptance[paid]
    offers, price = (thresholds, acceptance), 1.0 / found.below
    return _response(market, B, offers, price, status, {"steps": found.steps}, lottery=lottery)


def _by_owners(parts: Sequence[Part], target: float, start: float, n: int, slope: float = 1.0) -> tuple[Found, Answers]:
    """Search over all owners, from the answer for a sample."""
    if n > 4 * _SAMPLE:
        samples = [_sample(part) for part in parts]
        rough = search(lambda x: spend(samples, x), target, start, slope, _SAMPLE_CLOSE)
        start, slope = rough.below, rough.slope
    found = search(lambda x: spend(parts, x), target, start, slope, CLOSE)
    return found, answers(parts, found.below, n)


def _sample(part: Part) -> Part:
    """Every k-th owner, weighing as much as the k."""
    step = -(-part.epsilon.size // _SAMPLE)
    chosen = slice(step // 2, None, step)
    return part.rows(chosen, part.epsilon.size / part.epsilon[chosen].size)


def _by_tables(parts: Sequence[Part], target: float, start: float, n: int) -> tuple[Found, Answers]:
    """Search over the condensed market, and correct the price by what is spent at the answers that are delivered."""
    small = [condensed(part) for part in parts]
    rough = search(lambda x: spend([one.few for one in small], x), target, start, 1.0, _SAMPLE_CLOSE)
    few = [one.opened(rough.below) for one in small]
    aim = target * (1.0 - _AIM)
    found = search(lambda x: spend(few, x), aim, rough.below, rough.slope, CLOSE)
    x, steps = found.below, rough.steps + found.steps
    for _ in range(_CORRECTIONS):
        every = answers(parts, x, n)
        steps += 1
        if target * (1.0 - _NEAR) <= every.spend <= target:
            return Found(x, every.spend, found.above, found.slope, steps), every
        if not every.spend > 0:
            break
        if every.spend <= target and found.above <= x * (1.0 + 4 * CLOSE) and spend(parts, found.above) > target:
            return Found(x, every.spend, found.above, found.slope, steps), every  # a jump
        x *= math.exp(log_ratio(aim, every.spend) / found.slope)
    exact = [dataclasses.replace(part, table=None) for part in parts]
    return _by_owners(exact, target, found.below, n, found.slope)
