"""The price search: OP2 by one equation in the budget price λ.

For a given λ every owner answers alone: J_i(θ_i) = ε_i/λ, clipped to her support (KKT). Total spend falls as λ rises, so one number
is to be found. With x = 1/λ, the search works on log spend against log x, which is a straight line for power laws without caps, by
inverse interpolation inside a bracket, and starts from the answer for a sample of the owners.

Postcondition (tests/solvers/test_dual.py): spend ≤ B whatever the order of summation, and spend ≥ B (1 − 1e-12) − Σ ulp(θ_i)(F_i + θ_i f_i) where it binds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric.sums import BLOCK
from smqopt.numeric.tolerances import BUDGET_MARGIN, BUDGET_SHORTFALL
from smqopt.program.classify import status_of
from smqopt.program.lottery import Lottery
from smqopt.program.market import Market, checked_budget
from smqopt.program.solution import Solution
from smqopt.program.status import Status
from smqopt.valuation.base import Index, Valuation
from smqopt.valuation.flat_pieces import FlatPieces
from smqopt.valuation.ironed import Ironed
from smqopt.valuation.ironing import ironed

__all__ = ["solve_market"]

Floats = NDArray[np.float64]

_ULP = 2.0**-53
_SAMPLE = 1 << 13
"""Owners of each part in the sample that starts the search."""
_CLOSE = 4 * _ULP
"""The search ends when log x is known this well: a few units in the last place of λ."""
_SAMPLE_CLOSE = 2.0**-14
"""The sample is off by more than this anyway."""
_RESOLVED = 2.0**-26
"""Points closer than this in log x say nothing of the slope: their difference in spend is mostly rounding."""
_LONGEST_STEP = 40.0
"""In log x."""
_LARGEST = 2.0**1000
_MOST_STEPS = 400
"""Bisection alone needs fewer: 2,098 powers of two, halved eleven times, then 53 bits."""


@dataclass(frozen=True)
class _Part:
    """The owners of one family of laws."""

    law: Valuation | Ironed
    owners: Index
    epsilon: Floats
    weight: Floats | float
    """How many owners a row stands for: an array, or one number for all rows."""

    def blocks(self) -> Sequence[slice]:
        return [slice(start, start + BLOCK) for start in range(0, self.epsilon.size, BLOCK)]

    def spend(self, x: float) -> list[float]:
        """Expected payments at price 1/x, summed block by block."""
        totals = []
        v, cost = np.empty(BLOCK), np.empty(BLOCK)
        for block in self.blocks():
            epsilon = self.epsilon[block]
            price, spent = v[: epsilon.size], cost[: epsilon.size]
            theta, q = self.law.take(block).offer(np.multiply(epsilon, x, out=price))
            np.multiply(theta, q, out=spent)
            if isinstance(self.weight, np.ndarray):
                spent *= self.weight[block]
            totals.append(float(np.add.reduce(spent)))
        return (
            totals
            if isinstance(self.weight, np.ndarray) or self.weight == 1.0
            else [self.weight * total for total in totals]
        )

    def sample(self) -> _Part:
        """Every k-th owner, weighing as much as the k."""
        step = -(-self.epsilon.size // _SAMPLE)
        chosen = slice(step // 2, None, step)
        epsilon = self.epsilon[chosen]
        share = self.epsilon.size / epsilon.size
        weight = self.weight[chosen] * share if isinstance(self.weight, np.ndarray) else self.weight * share
        return _Part(self.law.take(chosen), chosen, np.ascontiguousarray(epsilon), weight)


def solve_market(market: Market, budget: float, *, lotteries: bool = True) -> Solution:
    """Solve OP2; where a law is not known to be regular its cost curve is ironed (errata E5, E17).

    Parameters
    ----------
    market
        n owners.
    budget
        B ≥ 0, in currency.
    lotteries
        Whether owners on a flat piece of their ironed cost curve may draw between two thresholds. Without, each of them gets one of the two, and
        what is lost is at most the jump of one of them, times the budget price.

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
        return _solution(market, B, market.low.copy(), np.zeros(market.n), math.inf, status, {"steps": 0})
    if status is Status.SLACK:
        sells = market.epsilon > 0
        thresholds = np.where(sells, market.high, market.low)
        return _solution(market, B, thresholds, sells.astype(np.float64), 0.0, status, {"steps": 0})
    parts = _parts(market)
    target = B * (1.0 - BUDGET_MARGIN.value)
    start = float(np.max(market.valuation.high)) / float(market.epsilon.max())
    slope = 1.0
    if market.n > 4 * _SAMPLE:
        samples = [part.sample() for part in parts]
        rough = _search(lambda x: _spend(samples, x), target, start, slope, _SAMPLE_CLOSE)
        start, slope = rough.below, rough.slope
    found = _search(lambda x: _spend(parts, x), target, start, slope, _CLOSE)
    thresholds, acceptance = _offers(parts, found.below, market.n)
    price = 1.0 / found.below
    lottery = None
    if found.spend_below < B * (1.0 - 0.25 * BUDGET_SHORTFALL.value):
        tied = _tied(parts, found)
        if tied is None:
            thresholds, acceptance = _fill(market, parts, target, found, thresholds, acceptance)
        else:
            thresholds, acceptance = thresholds.copy(), acceptance.copy()
            thresholds[tied.owner], acceptance[tied.owner] = tied.low, tied.low_acceptance
            left = target - _total(market, thresholds, acceptance)
            if lotteries:
                lottery = _share(market, tied, left)
                acceptance[lottery.owner] = lottery.acceptance
            else:
                paid = np.cumsum(_jumps(market, tied)) <= left
                raised = tied.owner[paid]
                thresholds[raised], acceptance[raised] = tied.high[paid], tied.high_acceptance[paid]
    return _solution(market, B, thresholds, acceptance, price, status, {"steps": found.steps}, lottery)


# --- the equation in λ ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """Two neighbouring values of x = 1/λ with spend at most, and above, the target."""

    below: float
    spend_below: float
    above: float
    slope: float
    """d log spend / d log x near the answer."""
    steps: int


def _search(spend: Callable[[float], float], target: float, start: float, slope: float, close: float) -> _Found:
    """Find the largest x with spend(x) ≤ target, to a relative `close`; spend does not fall in x.

    Each step evaluates spend once, at the root of the inverse interpolation through the last three points, less half of `close` so
    that it falls on the side that keeps the budget. Where that root leaves the bracket, or the bracket has not halved for three
    steps, the middle of the bracket (in log x) is taken.
    """
    below, spend_below, above = 0.0, 0.0, math.inf
    points: list[tuple[float, float]] = []
    x, width, stalled = start, math.inf, 0
    for step in range(1, _MOST_STEPS):
        total = spend(x)
        if total <= target:
            below, spend_below = x, total
        else:
            above = x
        if total > 0:
            points = [*points, (x, _log_ratio(total, target))][-3:]
            slope = _secant_slope(points, slope)
            if total <= target and -points[-1][1] <= close * slope:
                return _Found(below, spend_below, above, slope, step)
        if above <= below * (1.0 + 2.0 * close):
            return _Found(below, spend_below, above, slope, step)
        bracket = _log_ratio(above, below) if below > 0 and above < math.inf else math.inf
        stalled = 0 if bracket < 0.5 * width else stalled + 1
        width = min(width, bracket)
        x = _next(points, slope, close) if points and stalled < 3 else math.nan
        if not below < x < above:
            stalled = 0
            x = _middle(below, above, start, step)
            if not below < x < above:
                return _Found(below, spend_below, above, slope, step)
    raise AssertionError("the price search did not end")


def _log_ratio(a: float, b: float) -> float:
    """Give log(a/b) for a, b > 0, to full relative accuracy also where a is near b; the same in every unit of a and b."""
    if abs(a - b) < 0.5 * b:
        return math.log1p((a - b) / b)
    ratio = a / b
    return math.log(ratio) if 0 < ratio < math.inf else math.log(a) - math.log(b)


def _secant_slope(points: list[tuple[float, float]], slope: float) -> float:
    """Give d log spend / d log x from the last two points, unless they are so close that rounding would speak."""
    if len(points) < 2:
        return slope
    (x0, h0), (x1, h1) = points[-2:]
    run = _log_ratio(x0, x1)
    secant = (h0 - h1) / run if abs(run) > _RESOLVED else slope
    return secant if secant > 0 else slope


def _next(points: list[tuple[float, float]], slope: float, close: float) -> float:
    """Give the root of the inverse interpolation through the points, in log x, a little to the left."""
    x_last, h_last = points[-1]
    step = -h_last / slope
    if len(points) == 3:
        (x0, h0), (x1, h1), _ = points
        if h0 != h1 and h0 != h_last and h1 != h_last:
            t0, t1 = _log_ratio(x0, x_last), _log_ratio(x1, x_last)
            step = t0 * h1 * h_last / ((h0 - h1) * (h0 - h_last)) + t1 * h0 * h_last / ((h1 - h0) * (h1 - h_last))
    step = min(max(step, -_LONGEST_STEP), _LONGEST_STEP)
    return x_last * (1.0 + math.expm1(step - 0.5 * close))


def _middle(below: float, above: float, start: float, step: int) -> float:
    """Give the middle of the bracket in log x; where one side is open, a point that moves off ever faster."""
    if below > 0 and above < math.inf:
        ratio = above / below
        x = below * math.sqrt(ratio) if ratio < math.inf else math.sqrt(below) * math.sqrt(above)
        return x if below < x < above else 0.5 * (below + above)
    leap = 2.0 ** min(step * step, 1000)
    return min(max(below, start) * leap, _LARGEST) if above == math.inf else min(above, start) / leap


# --- the owners ----------------------------------------------------------------------------------------------------


def _parts(market: Market) -> list[_Part]:
    counts = market.multiplicity
    return [
        _Part(ironed(law), owners, market.epsilon[owners], 1.0 if counts is None else counts[owners].astype(np.float64))
        for law, owners in market.valuation.parts()
    ]


def _spend(parts: Sequence[_Part], x: float) -> float:
    with np.errstate(over="ignore"):  # ε/λ may be infinite: such an owner is at the top of her support
        return math.fsum(total for part in parts for total in part.spend(x))


def _offers(parts: Sequence[_Part], x: float, n: int) -> tuple[Floats, Floats]:
    """Give all thresholds and acceptances at price 1/x."""
    thresholds, acceptance = np.empty(n), np.empty(n)
    for part in parts:
        whole = isinstance(part.owners, slice)
        theta = thresholds if whole else np.empty(part.epsilon.size)
        q = acceptance if whole else np.empty(part.epsilon.size)
        same = True
        for block in part.blocks():
            with np.errstate(over="ignore"):
                offered, probable = part.law.take(block).offer(np.multiply(part.epsilon[block], x, out=theta[block]))
            if offered.base is not theta:
                theta[block] = offered
            same = same and probable is offered
            if not same:
                q[block] = probable
        if same:  # F(θ) = θ: one array, never written again, is both
            q = theta
        if whole:
            return theta, q
        thresholds[part.owners], acceptance[part.owners] = theta, q
    return thresholds, acceptance


def _fill(
    market: Market, parts: Sequence[_Part], target: float, found: _Found, thresholds: Floats, acceptance: Floats
) -> tuple[Floats, Floats]:
    """Spend what a jump of the spend between two neighbouring prices leaves over.

    Between the two prices each owner's virtual cost is ε_i/λ up to rounding, so every point between is as optimal. First all owners go
    the same share of the way, as far as the budget allows; then, one unit in the last place apart, as many as it allows go on.
    """
    law = market.valuation
    higher, _ = _offers(parts, found.above, market.n)
    span = higher - thresholds

    def affordable(theta: Floats) -> bool:
        return _total(market, theta, law.cdf(theta)) <= target

    def together(share: float) -> Floats:
        return np.minimum(thresholds + share * span, higher)

    good, bad = 0.0, 1.0
    while good < 0.5 * (good + bad) < bad:
        share = 0.5 * (good + bad)
        good, bad = (share, bad) if affordable(together(share)) else (good, share)
    below, above = together(good), together(bad)

    def first(count: int) -> Floats:
        return np.where(np.arange(market.n) < count, above, below)

    few, many = 0, market.n
    while many - few > 1:
        count = (few + many) // 2
        few, many = (count, many) if affordable(first(count)) else (few, count)
    theta = first(few)
    return (theta, law.cdf(theta)) if affordable(theta) else (thresholds, acceptance)


def _total(market: Market, thresholds: Floats, acceptance: Floats) -> float:
    """Give the expected spend Σ m_i θ_i q_i, in currency, products rounded and then summed without error."""
    counts = 1.0 if market.multiplicity is None else market.multiplicity.astype(np.float64)
    return math.fsum((thresholds * acceptance * counts).tolist())


# --- owners on a flat piece ----------------------------------------------------------------------------------------


def _tied(parts: Sequence[_Part], found: _Found) -> FlatPieces | None:
    """Give the flat pieces whose slope lies between the two prices, their owners numbered as in the market; None where there are none."""
    every: list[FlatPieces] = []
    for part in parts:
        if isinstance(part.law, Ironed):
            with np.errstate(over="ignore"):
                before, after = (part.law.passed(part.epsilon * x) for x in (found.below, found.above))
            pieces = part.law.ends_passed(before, after)
            rows = pieces.owner if isinstance(part.owners, slice) else part.owners[pieces.owner]
            every.append(dataclasses.replace(pieces, owner=rows))
    if not sum(len(pieces) for pieces in every):
        return None
    tied = FlatPieces(
        *(np.concatenate([getattr(pieces, name) for pieces in every]) for name in ("owner", *FlatPieces.columns()))
    )
    order = np.argsort(tied.owner, kind="stable")
    return FlatPieces(*(getattr(tied, name)[order] for name in ("owner", *FlatPieces.columns())))


def _jumps(market: Market, tied: FlatPieces) -> Floats:
    """Give what each tied row adds to spend from the lower end of her piece to the upper one, in currency."""
    counts = 1.0 if market.multiplicity is None else market.multiplicity[tied.owner]
    return counts * (tied.high * tied.high_acceptance - tied.low * tied.low_acceptance)


def _share(market: Market, tied: FlatPieces, left: float) -> Lottery:
    """Give all tied owners the same lottery, so that the expected spend is what is left."""
    chance_of_high = min(max(left, 0.0) / math.fsum(_jumps(market, tied).tolist()), 1.0)
    chance_of_low = np.full(len(tied), 1.0 - chance_of_high)
    return Lottery(tied.owner, tied.low, tied.high, tied.low_acceptance, tied.high_acceptance, chance_of_low)


def _solution(
    market: Market,
    B: float,
    thresholds: Floats,
    acceptance: Floats,
    price: float,
    status: Status,
    details: dict[str, Any],
    lottery: Lottery | None = None,
) -> Solution:
    thresholds.flags.writeable = acceptance.flags.writeable = False
    return Solution(
        market=market,
        budget=B,
        thresholds=thresholds,
        acceptance=acceptance,
        budget_price=price,
        status=status,
        solver="dual",
        market_fingerprint=market.fingerprint,
        lottery=lottery,
        details=MappingProxyType(details),
    )
