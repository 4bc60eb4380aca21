"""What a jump of the spend leaves over.

Owners tied on a flat piece, or rounding between two neighbouring prices.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from smqopt.market import Lottery, Market, Offers, joined_pieces
from smqopt.numeric import BUDGET_MARGIN, GAP, Bins, Bracket, Floats, sum_with_error
from smqopt.solvers.price_search._response import OwnerPart, answers
from smqopt.valuation import FlatPieces, Index, Ironed

WORTH_A_DRAW = GAP.value / 16
"""What is left of the budget is drawn for where it would buy more than this share of all that is
bought: where it is less, one price an owner is certified."""


def spend_the_rest(
    market: Market, each: Floats, parts: Sequence[OwnerPart], found: Bracket, offers: Offers, target: float
) -> Offers:
    """Spend what is left between two neighbouring prices.

    Owners tied on a flat piece draw, all alike; the others go part of the way to the next price,
    and one may draw between two neighbouring doubles. `each` is what acceptance is worth.
    """
    tied = tied_pieces(parts, found)
    if tied is None:
        filled, above = _go_on(market, parts, target, found, offers.thresholds, offers.acceptance)
        return _draw_for_the_rest(market, each, filled, above, target, found.below)
    thresholds, acceptance = offers.thresholds.copy(), offers.acceptance.copy()
    thresholds[tied.owner], acceptance[tied.owner] = tied.low, tied.low_acceptance
    left = target - _total_spend(market, thresholds, acceptance)
    jumps = market.weights[tied.owner] * (tied.high * tied.high_acceptance - tied.low * tied.low_acceptance)
    lottery = Lottery.from_pieces(tied, np.full(len(tied), _affordable_chance(jumps, left)))
    acceptance[lottery.owner] = lottery.acceptance
    return Offers(thresholds, acceptance, lottery)


def _go_on(
    market: Market, parts: Sequence[OwnerPart], target: float, found: Bracket, thresholds: Floats, acceptance: Floats
) -> tuple[Offers, Floats]:
    """Go on from the lower of two neighbouring prices as far as the target allows.

    Between the two prices each owner's virtual cost is ε_i/λ up to rounding, so every point between
    is as optimal. First all owners go the same share of the way, as far as the budget allows; then,
    one unit in the last place apart, as many as it allows go on. On a narrow support, or with a
    tiny budget, one such unit may be much of the budget: so the thresholds above are given too.
    """
    law = market.valuation
    higher = answers(parts, found.above, market.n).thresholds
    span = higher - thresholds

    def affordable(theta: Floats) -> bool:
        return _total_spend(market, theta, law.cdf(theta)) <= target

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
    theta, after = first(few), above
    if not affordable(theta):
        theta, after = thresholds, np.where(below > thresholds, below, above)
    q = law.cdf(theta) if theta is not thresholds else acceptance
    return Offers(theta, q), after


def _draw_for_the_rest(market: Market, each: Floats, offers: Offers, above: Floats, target: float, x: float) -> Offers:
    """Let one owner draw between her threshold and one above for what is left.

    `each` is what acceptance is worth, shape (n,), and x is 1/λ.
    """
    theta, q = offers.thresholds, offers.acceptance
    left = target - _total_spend(market, theta, q)
    bought = math.fsum((each * q * market.weights).tolist())
    if not left > WORTH_A_DRAW * x * bought:
        return offers
    higher = market.valuation.cdf(above)
    more = market.weights * (above * higher - theta * q)
    open_to = np.flatnonzero((above > theta) & (more > left))
    if not open_to.size:
        return offers
    k = open_to[:1]
    chance = np.array([_affordable_chance(more[k], left)])
    lottery = Lottery.between(k, theta[k], above[k], q[k], higher[k], chance)
    q = q.copy()
    q[k] = lottery.acceptance
    return Offers(theta, q, lottery)


def rounded_price(each: Floats, offers: Offers, x: float) -> float:
    """Return λ = 1/x, rounded up where one draws between no offer and a lowest price.

    She must not be worth more than that price: on a support that begins steeply, a rounding of λ
    is much of what a tiny budget buys.
    """
    price, drawn = 1.0 / x, offers.lottery
    if drawn is None or drawn.low_acceptance.any() or not drawn.low.all():
        return price
    least = float(np.nextafter(each[drawn.owner] / drawn.low, np.inf).max())
    return least if price < least <= price * (1.0 + BUDGET_MARGIN.value) else price


def _total_spend(market: Market, thresholds: Floats, acceptance: Floats) -> float:
    """Return the expected spend Σ m_i θ_i q_i, in currency, summed to the last digits."""
    cost = thresholds * acceptance
    cost = cost if market.multiplicity is None else cost * market.weights
    total, _ = sum_with_error(cost)
    return total if math.isfinite(total) else math.fsum(cost.tolist())


def tied_pieces(parts: Sequence[OwnerPart], found: Bracket) -> FlatPieces | None:
    """Return the flat pieces with slopes between the two prices; else None.

    Their owners are numbered as in the market.
    """
    every: list[FlatPieces] = []
    for part in parts:
        if isinstance(part.law, Ironed):
            with np.errstate(over="ignore"):
                chosen = _candidates(part, part.law, found)
                epsilon = part.epsilon[chosen]
                # who has nothing to sell is worth nothing at a price of 0 too, where x is infinite
                sells = epsilon > 0
                before, after = (
                    part.law.count_passed(np.multiply(epsilon, x, out=np.zeros(sells.size), where=sells))
                    for x in (found.below, found.above)
                )
            pieces = part.law.join_between(before, after)
            own = np.arange(part.epsilon.size)[chosen][pieces.owner] if part.law.common else pieces.owner
            rows = own if isinstance(part.owners, slice) else part.owners[own]
            every.append(dataclasses.replace(pieces, owner=rows))
    if not sum(len(pieces) for pieces in every):
        return None
    return joined_pieces(every)


def _candidates(part: OwnerPart, law: Ironed, found: Bracket) -> Index:
    """Return who may have passed a piece of a common law between the two prices."""
    slopes = law.pieces.slope
    if not law.common or not len(slopes):
        return slice(None)
    with np.errstate(all="ignore"):
        near = Bins.around(slopes / found.above, np.fmin(slopes / found.below, np.finfo(np.float64).max))
    return near.rows(part.epsilon)


def _affordable_chance(jumps: Floats, left: float) -> float:
    """Return the chance of all jumps that spends what is left, rounded down."""
    whole = math.fsum(jumps.tolist())
    chance = min(max(left, 0.0) / whole, 1.0)
    return chance if chance * whole <= left else max(math.nextafter(chance, -1.0), 0.0)
