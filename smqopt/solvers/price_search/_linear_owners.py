"""What owners answer to a price where φ_i(q) = e_i q.

J_i(θ_i) = e_i/λ, clipped to her support (KKT).

The search starts from the answer for a few owners who stand for all: a sample, or where the laws'
answers are in tables, a condensed market that spends as much as the whole.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from smqopt.market import Linear, Market, Offers
from smqopt.solvers.price_search._aggregation import condense
from smqopt.solvers.price_search._bracketing import CLOSE, SAMPLE, SAMPLE_CLOSE, Bracket, log_ratio, search
from smqopt.solvers.price_search._response import Answers, OwnerPart, answers, parts_of, spend
from smqopt.solvers.price_search._tied_owners import (
    draw_for_the_rest,
    fill,
    rounded_price,
    shared_lottery,
    tied_pieces,
    total_spend,
)

_NEAR = 2.0**-46
"""So near to the target, relative to it, an answer from tables is taken: the estimates of spend are
not the delivered spend to the last digit."""
_BELOW = 2.0**-50
"""How far below the target such an answer is sought."""
_ROUGH = 2.0**-24
"""How near to the price the rows are cut that stand for all: where answers turn, what is lost is
the square of that."""
_ABOUT = 2.0**-12
"""The step by which the slope of the spend is found."""
_CORRECTIONS = 4
"""Corrections of such an answer before the search goes over all owners."""


class LinearOwners:
    """The owners of a market under a linear objective."""

    def __init__(self, market: Market, utility: Linear) -> None:
        self._market, self._utility = market, utility
        self._parts = parts_of(market, utility.each)

    def meet(self, target: float, start: float | None = None) -> tuple[Bracket, Offers]:
        """Search for x = 1/λ."""
        if start is None:
            start = float(np.max(self._market.valuation.high)) / float(self._utility.each.max())
        tables = any(part.table is not None for part in self._parts)
        found, every = (_by_tables if tables else _by_owners)(self._parts, target, start, self._market.n)
        return found, Offers(every.thresholds, every.acceptance)

    def fill(self, found: Bracket, offers: Offers, target: float) -> Offers:
        """Spend what is left.

        Owners tied on a flat piece draw, the others go part of the way to the next price; one may
        draw between two neighbouring doubles.
        """
        market, tied = self._market, tied_pieces(self._parts, found)
        thresholds, acceptance = offers.thresholds, offers.acceptance
        if tied is None:
            filled, above = fill(market, self._parts, target, found, thresholds, acceptance)
            return draw_for_the_rest(market, self._utility.each, filled, above, target, found.below)
        thresholds, acceptance = thresholds.copy(), acceptance.copy()
        thresholds[tied.owner], acceptance[tied.owner] = tied.low, tied.low_acceptance
        left = target - total_spend(market, thresholds, acceptance)
        lottery = shared_lottery(market, tied, left)
        acceptance[lottery.owner] = lottery.acceptance
        return Offers(thresholds, acceptance, lottery)

    def price(self, found: Bracket, offers: Offers) -> float:
        """Return λ of what was found."""
        return rounded_price(self._utility.each, offers, found.below)


def _by_owners(
    parts: Sequence[OwnerPart], target: float, start: float, n: int, slope: float = 1.0
) -> tuple[Bracket, Answers]:
    """Search over all owners, from the answer for a sample."""
    if n > 4 * SAMPLE:
        samples = [_sample(part) for part in parts]
        rough = search(lambda x: spend(samples, x), target, start, slope, SAMPLE_CLOSE)
        start, slope = rough.below, rough.slope
    found = search(lambda x: spend(parts, x), target, start, slope, CLOSE)
    return found, answers(parts, found.below, n)


def _sample(part: OwnerPart) -> OwnerPart:
    """Every k-th owner, weighing as much as the k."""
    step = -(-part.epsilon.size // SAMPLE)
    chosen = slice(step // 2, None, step)
    return part.rows(chosen, part.epsilon.size / part.epsilon[chosen].size)


def _by_tables(parts: Sequence[OwnerPart], target: float, start: float, n: int) -> tuple[Bracket, Answers]:
    """Search over the condensed market; correct the price by the answers' spend."""
    small = [condense(part) for part in parts]
    rough = search(lambda x: spend([one.few for one in small], x), target, start, 1.0, _ROUGH)
    few = [one.open(rough.below) for one in small]
    below = target * (1.0 - _BELOW)
    found = search(lambda x: spend(few, x), below, rough.below, rough.slope, CLOSE)
    x, steps = found.below, rough.steps + found.steps
    slope = _slope_of_spend(few, x)
    for _ in range(_CORRECTIONS):
        every = answers(parts, x, n)
        steps += 1
        if target * (1.0 - _NEAR) <= every.spend <= target:
            return Bracket(x, every.spend, found.above, slope, steps), every
        jumps = every.spend <= target and found.above <= x * (1.0 + 4 * CLOSE)
        agrees = x == found.below and abs(every.spend - found.spend_below) <= _NEAR * target
        if jumps and (agrees or spend(parts, found.above) > target):
            return Bracket(x, every.spend, found.above, slope, steps), every
        if not (every.spend > 0 and slope > 0):
            break
        x *= math.exp(log_ratio(below, every.spend) / slope)
    exact = [part if part.is_exact else dataclasses.replace(part, table=None) for part in parts]
    return _by_owners(exact, target, found.below, n, slope)


def _slope_of_spend(parts: Sequence[OwnerPart], x: float) -> float:
    """Return d log spend / d log x about x; 0 where the spend does not rise."""
    near, far = spend(parts, x), spend(parts, x * (1.0 + _ABOUT))
    return log_ratio(far, near) / math.log1p(_ABOUT) if 0 < near < far else 0.0
