"""The solution that a route hands out, and what rounding may add to its spend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from smqopt.market import Market, Offers, Solution, Status
from smqopt.numeric import BUDGET_MARGIN, FrozenDict


def deliver(
    solver: str,
    market: Market,
    budget: float,
    offers: Offers,
    price: float,
    status: Status,
    details: Mapping[str, Any],
    **known: Any,
) -> Solution:
    """Make a solution of its market, with arrays that nobody can write to.

    `known` are further fields of `Solution`.
    """
    thresholds, acceptance = offers.thresholds, offers.acceptance
    for values in (thresholds, acceptance, *(value for value in known.values() if isinstance(value, np.ndarray))):
        values.flags.writeable = False
    return Solution(
        market=market,
        budget=budget,
        thresholds=thresholds,
        acceptance=acceptance,
        budget_price=price,
        status=status,
        solver=solver,
        market_fingerprint=market.fingerprint,
        lottery=offers.lottery,
        details=FrozenDict(details),
        **known,
    )


def rounding_of_spend(found: Solution) -> float:
    """Return what roundings of F, and of chances, may add to a spend; in currency."""
    paid, rounded = found.market.weights * found.spend, found.acceptance < 1
    if found.lottery is not None:
        rounded[found.lottery.owner] = True
    return BUDGET_MARGIN.value / 4 * float(np.sum(paid[rounded]))
