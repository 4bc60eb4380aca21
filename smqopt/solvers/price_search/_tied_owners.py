"""What a jump of the spend leaves over.

Owners tied on a flat piece, or rounding between two neighbouring prices.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from smqopt.market import Lottery, Market, joined_pieces
from smqopt.numeric import Floats
from smqopt.solvers.price_search._bracketing import Bracket
from smqopt.solvers.price_search._response import OwnerPart, answers
from smqopt.valuation import FlatPieces, Ironed


def fill(
    market: Market, parts: Sequence[OwnerPart], target: float, found: Bracket, thresholds: Floats, acceptance: Floats
) -> tuple[Floats, Floats]:
    """Spend what a jump of the spend between two neighbouring prices leaves over.

    Between the two prices each owner's virtual cost is ε_i/λ up to rounding, so every point between
    is as optimal. First all owners go the same share of the way, as far as the budget allows; then,
    one unit in the last place apart, as many as it allows go on.
    """
    law = market.valuation
    higher = answers(parts, found.above, market.n).thresholds
    span = higher - thresholds

    def affordable(theta: Floats) -> bool:
        return total_spend(market, theta, law.cdf(theta)) <= target

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


def total_spend(market: Market, thresholds: Floats, acceptance: Floats) -> float:
    """Return the expected spend Σ m_i θ_i q_i, in currency, summed without error."""
    counts = market.weights
    return math.fsum((thresholds * acceptance * counts).tolist())


def tied_pieces(parts: Sequence[OwnerPart], found: Bracket) -> FlatPieces | None:
    """Return the flat pieces with slopes between the two prices; else None.

    Their owners are numbered as in the market.
    """
    every: list[FlatPieces] = []
    for part in parts:
        if isinstance(part.law, Ironed):
            with np.errstate(over="ignore"):
                # who has nothing to sell is worth nothing at a price of 0 too, where x is infinite
                sells = part.epsilon > 0
                before, after = (
                    part.law.count_passed(np.multiply(part.epsilon, x, out=np.zeros(sells.size), where=sells))
                    for x in (found.below, found.above)
                )
            pieces = part.law.join_between(before, after)
            rows = pieces.owner if isinstance(part.owners, slice) else part.owners[pieces.owner]
            every.append(dataclasses.replace(pieces, owner=rows))
    if not sum(len(pieces) for pieces in every):
        return None
    return joined_pieces(every)


def jumps(market: Market, tied: FlatPieces | Lottery) -> Floats:
    """Return what each tied row adds to spend over her piece, in currency."""
    return market.weights[tied.owner] * (tied.high * tied.high_acceptance - tied.low * tied.low_acceptance)


def shared_lottery(market: Market, tied: FlatPieces, left: float) -> Lottery:
    """Offer all tied owners one lottery that spends what is left."""
    whole = math.fsum(jumps(market, tied).tolist())
    chance_of_low = 1.0 - min(max(left, 0.0) / whole, 1.0)
    if (1.0 - chance_of_low) * whole > left:  # the rounding must not spend more
        chance_of_low = min(math.nextafter(chance_of_low, 2.0), 1.0)
    chances = np.full(len(tied), chance_of_low)
    return Lottery.from_pieces(tied, chances)
