"""Common prices for owners of different laws.

The price of the budget is searched, and each group answers it as one pooled owner.

Spend falls as λ rises, and jumps where a group has two best prices: there its ironed curve is flat.
Of the groups that jump at the price of the budget some get their higher price, at most one draws
between its two, and the rest keep their lower one.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import SolverError
from smqopt.market import Lottery, Offers, Pooled, Solution, Status, acceptance_at
from smqopt.numeric import BUDGET_MARGIN, POOLED_EXCESS, Floats, exact_dot
from smqopt.solvers._result import deliver
from smqopt.valuation import iron

_LARGEST = 2.0**1000
_FAR = 16.0
_NEAR = 1.0 + 2.0**-12
"""By what factor λ is moved at first, from nowhere or from a price of the budget known to be near.
"""
_MOST_REFINEMENTS = 64
_CLOSE = 2.0**-50
"""Two λ as near as this, relatively, are not told apart."""
_SHRUNK = 0.25
"""Where a guess leaves more than this of a bracket, the bracket is halved."""
_STEEP = 64.0
"""Spend that falls by more than so many times the share by which λ rises, jumps."""
_JUMP = 2.0**-30
"""A spend that changes by less than this share of itself between two neighbouring prices of the
budget does not jump."""


@dataclass(frozen=True)
class _Answer:
    """The best common price of each group, and what it costs; shape (R,) each."""

    price: Floats
    """In currency; −∞ for no offer."""
    spend: Floats
    """In currency."""
    privacy: Floats
    """In units of ε."""

    @property
    def total(self) -> float:
        return exact_dot(self.spend, np.ones(1))


def solve_pool(pooled: Pooled, budget: float, *, lotteries: bool = True, near: float | None = None) -> Solution:
    """Solve OP2 with common prices of pooled groups.

    Parameters
    ----------
    pooled
        The market and its groups.
    budget
        B ≥ 0, in currency.
    lotteries
        Whether a group may draw between two common prices. Without, the budget may stay unspent.
    near
        A λ > 0 near which to look first, say that of another budget.

    Raises
    ------
    SolverError
        If no price of the budget is found within the doubles.
    """
    if budget == 0:
        price = np.full(pooled.groups, -np.inf)
        price[pooled.pooled] = pooled.curves.free().price
        if pooled.alike_market is not None:
            price[pooled.alike] = np.where(pooled.alike_market.low == 0, 0.0, -np.inf)
        return _solution(pooled, budget, Status.ZERO_BUDGET, math.inf, price)
    full, all_of_it = _fullest(pooled), spend_on_all(pooled)
    if all_of_it <= budget:
        return _solution(pooled, budget, Status.SLACK, 0.0, full.price)
    safe = budget * (1.0 - BUDGET_MARGIN.value)
    rough = dataclasses.replace(pooled, curves=pooled.curves.straighten())
    guess = max(float(pooled.market.epsilon.max()) / safe, 1.0 / _LARGEST) if near is None else near
    near = _budget_prices(rough, safe, guess, _FAR)[1]
    cheap, dear = _budget_prices(pooled, safe, near, _NEAR)
    for _ in range(_MOST_REFINEMENTS):
        finer = pooled.curves.refine(dear, dear * budget, 0.25 * POOLED_EXCESS.value)
        if finer is pooled.curves and np.any(_jump(_answers(pooled, dear).spend, _answers(pooled, cheap).spend)):
            finer = pooled.curves.refine(cheap, cheap * budget, 0.25 * POOLED_EXCESS.value)
        if finer is pooled.curves:
            break
        pooled = dataclasses.replace(pooled, curves=finer)
        cheap, dear = _budget_prices(pooled, safe, dear, _NEAR)
    low, high = _answers(pooled, dear), _answers(pooled, cheap)
    step = _CLOSE
    while (
        spend := _spend(pooled, low.price)
    ).sum() > safe:  # what owners are really paid may exceed the cells' by rounding
        low, step = _answers(pooled, dear * (1.0 + step)), 2.0 * step
    most = _spend(pooled, high.price)
    more, jumps = most - spend, np.flatnonzero(_jump(spend, most))
    jumps = jumps[np.argsort(more[jumps], kind="stable")]
    used = float(exact_dot(spend, np.ones(1))) + np.cumsum(more[jumps])
    whole = int(np.searchsorted(used, safe, side="right"))
    price = low.price.copy()
    price[jumps[:whole]] = high.price[jumps[:whole]]
    if not lotteries or whole == jumps.size:
        return _solution(pooled, budget, Status.BINDING, dear, price)
    row = int(jumps[whole])
    left = safe - exact_dot(_spend(pooled, price), np.ones(1))
    chance_of_low = min(max(1.0 - left / float(more[row]), 0.0), 1.0)
    solution = _solution(pooled, budget, Status.BINDING, dear, price, (row, float(high.price[row]), chance_of_low))
    while chance_of_low < 1 and _overspends(solution):  # chances near 1 are coarse
        chance_of_low = math.nextafter(chance_of_low, 1.0)
        solution = _solution(pooled, budget, Status.BINDING, dear, price, (row, float(high.price[row]), chance_of_low))
    return solution


def _jump(spend: Floats, more: Floats) -> NDArray[np.bool_]:
    """Say which groups' spend jumps between two neighbouring λ."""
    return np.asarray(more - spend > _JUMP * more)


def spend_on_all(pooled: Pooled) -> float:
    """Return what the lowest prices that buy all there is to buy cost, in currency.

    The larger of two ways of rounding.
    """
    spend = _spend(pooled, _fullest(pooled).price)
    return max(float(spend.sum()), exact_dot(spend, np.ones(1)))


def _overspends(solution: Solution) -> bool:
    """Say whether the budget is exceeded, however the sum is rounded."""
    return solution.total_spend > solution.budget * (1.0 - 0.5 * BUDGET_MARGIN.value)


def _fullest(pooled: Pooled) -> _Answer:
    """Return the lowest prices that buy all there is to buy."""
    best, price = pooled.curves.fullest(), np.full(pooled.groups, -np.inf)
    price[pooled.pooled] = best.price
    if pooled.alike_market is not None:
        market = pooled.alike_market
        price[pooled.alike] = np.where(market.epsilon > 0, market.high, -np.inf)
    return _Answer(price, np.empty(0), np.empty(0))


def _answers(pooled: Pooled, budget_price: float) -> _Answer:
    """Return each group's best common price at λ > 0."""
    price, spend, privacy = np.empty((3, pooled.groups))
    best = pooled.curves.best(budget_price)
    price[pooled.pooled], spend[pooled.pooled] = best.price, best.spend
    privacy[pooled.pooled] = best.height + budget_price * best.spend
    market = pooled.alike_market
    if market is not None:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            v = np.where(market.epsilon > 0, market.epsilon / budget_price, 0.0)
        theta, q = np.empty(market.n), np.empty(market.n)
        for law, owners in market.valuation.parts():
            theta[owners], q[owners] = iron(law).offer(v[owners])
        price[pooled.alike] = np.where(q > 0, theta, -np.inf)
        spend[pooled.alike] = market.weights * theta * q
        privacy[pooled.alike] = market.weights * market.epsilon * q
    return _Answer(price, spend, privacy)


def _spend(pooled: Pooled, price: Floats) -> Floats:
    """Return what each group is paid at a price of its own, in currency; shape (R,)."""
    market, each = pooled.market, price[pooled.row_of_owner]
    q = acceptance_at(market, np.arange(market.n, dtype=np.intp), each)
    paid = np.where(q > 0, each, 0.0) * q * market.weights
    return np.bincount(pooled.row_of_owner, weights=paid, minlength=pooled.groups).astype(np.float64)


def _budget_prices(pooled: Pooled, budget: float, guess: float, factor: float) -> tuple[float, float]:
    """Return two λ as near to each other as may be.

    At the lower one the groups spend more than the budget, at the higher one at most as much.

    They are sought from a guess on, by a factor that grows.

    Raises
    ------
    SolverError
        If they lie beyond the doubles.
    """
    low = high = guess
    at_low = at_high = _answers(pooled, guess)
    if at_low.total > budget:
        while at_high.total > budget and high < _LARGEST:
            low, at_low, high = high, at_high, factor * high
            at_high, factor = _answers(pooled, high), min(factor**4, _FAR)
    else:
        while at_low.total <= budget and low > 1.0 / _LARGEST:
            high, at_high, low = low, at_low, low / factor
            at_low, factor = _answers(pooled, low), min(factor**4, _FAR)
    if not 1.0 / _LARGEST < low < high < _LARGEST:
        raise SolverError(
            "structured solver",
            "found no price of the budget within the doubles",
            value=budget,
            remedy="use another unit of currency",
        )
    halve = False
    while high - low > _CLOSE * high:
        width, middle = (high - low) / low, 0.5 * (low + high)
        apart = 0.0 if halve else max(width**2, 0.25 * _CLOSE)
        point = middle if halve else _likely(at_low, at_high, (low, high), budget)
        for price in dict.fromkeys((point * (1.0 - apart), point * (1.0 + apart))):
            if low < price < high:
                answer = _answers(pooled, price)
                if answer.total > budget:
                    low, at_low = price, answer
                else:
                    high, at_high = price, answer
        halve = not halve and high - low > _SHRUNK * width * low
    return low, high


def _likely(at_low: _Answer, at_high: _Answer, ends: tuple[float, float], budget: float) -> float:
    """Guess the λ between two others at which spend falls to the budget.

    Off by about the square of their distance.

    Where spend falls for the most part in one group, and by more than it would if its price moved
    with λ, the group has two best prices at that λ, which is ΔV/ΔS between them. Else spend is
    about linear.
    """
    low, high = ends
    fall = at_low.spend - at_high.spend
    row = int(np.argmax(fall))
    if fall[row] > max(0.5 * float(fall.sum()), _STEEP * (high - low) / low * float(at_low.spend[row])):
        return float((at_low.privacy - at_high.privacy)[row] / fall[row])
    return low + (high - low) * (at_low.total - budget) / (at_low.total - at_high.total)


def _solution(
    pooled: Pooled,
    budget: float,
    status: Status,
    budget_price: float,
    price: Floats,
    drawn: tuple[int, float, float] | None = None,
) -> Solution:
    """Return every owner her group's price.

    `drawn` is the group that draws, its higher price, and the chance of the lower one.
    """
    market, row = pooled.market, pooled.row_of_owner
    everybody = np.arange(market.n, dtype=np.intp)
    each = price[row]
    q = acceptance_at(market, everybody, each)
    theta = np.where(q > 0, each, market.low)
    lottery = None
    if drawn is not None:
        group, higher, chance_of_low = drawn
        owners = np.flatnonzero(row == group)
        top = acceptance_at(market, owners, np.full(owners.size, higher))
        at = owners[top > 0]
        size = at.size
        lottery = Lottery.between(
            at, theta[at], np.full(size, higher), q[at], top[top > 0], np.full(size, chance_of_low)
        )
        q[at] = lottery.acceptance
    return deliver(
        "structured",
        market,
        budget,
        Offers(theta, q, lottery),
        budget_price,
        status,
        {"ironed": pooled.words_of_ironing()},
        constraints=tuple(record.words for record in pooled.records),
        records=pooled.records,
    )
