"""Checks of pooled groups, and their weak-duality bound.

For every λ ≥ 0, D(λ) = λB + Σ_alike m max_q {ε q − λC̄(q)} + Σ_pooled max_p {V(p) − λS(p)} bounds
from above what any common prices, drawn or not, buy within the budget. The last maximum is over
cells on which V − λS is a parabola and an error at most, each bounded by a tangent, and halved
until the error no longer matters; nothing here trusts the solver.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Pooled, Solution, acceptance_at
from smqopt.numeric import POOLED_EXCESS, ROUNDING, TERM_ROUNDING, Floats, exact_sum
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._side_constraints import off_the_list
from smqopt.verification.checks._weak_duality import upper_bound


def pooled_bound(pooled: Pooled, budget: float, price: float, share: float = POOLED_EXCESS.value) -> float:
    """Bound the optimum with common prices by weak duality, rounded up.

    Parameters
    ----------
    pooled
        The market and its groups.
    budget
        B ≥ 0, in currency.
    price
        λ ≥ 0.
    share
        By how much the bound may exceed the best prices that are found for λ, relative to it: what
        is less takes more time.

    Returns
    -------
    float
        The bound, in units of ε; +∞ where λ is no price.
    """
    market = pooled.alike_market
    among = market is not None and bool(market.epsilon.any())
    alike = upper_bound(market, budget, price) if market is not None else 0.0
    if budget == 0:
        return (alike + exact_sum(pooled.curves.free_privacy())) * (1.0 + _share(pooled))
    if not 0 <= price < math.inf:
        return math.inf
    fixed = 0.0 if among else price * budget  # the bound of the others has λB already, where they sell anything
    others = alike + fixed
    return (others + exact_sum(pooled.curves.bound(price, others, share))) * (1.0 + ROUNDING.value)


def _share(pooled: Pooled) -> float:
    return ROUNDING.value + TERM_ROUNDING.value * float(pooled.curves.terms.sizes.max())


def checks_of_pooling(solution: Solution, pooled: Pooled) -> list[Check]:
    """Check that each group has one price, or one draw, and every price list."""
    market, drawn, row = solution.market, solution.lottery, pooled.row_of_owner
    low, high = solution.thresholds, solution.thresholds.copy()
    low_q, high_q, chance = solution.acceptance.copy(), solution.acceptance.copy(), np.full(market.n, -1.0)
    if drawn is not None:
        low_q[drawn.owner], high[drawn.owner], high_q[drawn.owner] = (
            drawn.low_acceptance,
            drawn.high,
            drawn.high_acceptance,
        )
        chance[drawn.owner] = drawn.probability_of_low
        low = low.copy()
        low[drawn.owner] = drawn.low
    differs = _apart(pooled, low, low_q) | _apart(pooled, high, high_q)
    offered = high_q > 0
    largest = np.full(pooled.groups, -2.0)
    np.maximum.at(largest, row[offered], chance[offered])
    differs |= offered & (chance != largest[row])
    count = float(np.count_nonzero(differs))
    norm = "owners whose offer is not the price that their group gets, or draws"
    words = pooled.words_of_ironing()
    checks = [
        Check("common prices", count == 0, count, 0.0, norm, note=words),
        Check(
            "pooled curves",
            None,
            float(pooled.pooled.size),
            math.inf,
            "groups whose pooled curve was ironed",
            note=words,
            required=False,
        ),
    ]
    for number, record in enumerate(pooled.records, 1):
        listed = record.price_list(market)
        if listed is not None:
            strangers = off_the_list(solution, *listed)
            norm = "offered prices that are not on the list"
            checks.append(Check(f"price list {number}", strangers == 0, float(strangers), 0.0, norm))
    return checks


def _apart(pooled: Pooled, price: Floats, acceptance: Floats) -> NDArray[np.bool_]:
    """Return who is not offered the highest price of her group; shape (n,)."""
    row, offered = pooled.row_of_owner, acceptance > 0
    highest = np.full(pooled.groups, -np.inf)
    np.maximum.at(highest, row[offered], price[offered])
    might = acceptance_at(pooled.market, np.arange(price.size, dtype=np.intp), highest[row]) > 0
    return np.where(offered, price != highest[row], might)
