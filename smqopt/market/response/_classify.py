"""How OP2 without side constraints must end, known before any solver starts."""

from __future__ import annotations

import numpy as np

from smqopt.market._market import Market
from smqopt.market._status import Status
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._purchased_privacy import PurchasedPrivacy
from smqopt.numeric import exact_dot

_CLEARLY_LESS = 1.0 - 2.0**-20
"""More than rounding can take from a sum of fewer than 2^32 terms; the exact sum is not needed
below this share of it."""


def status_of(market: Market, budget: float, objective: Objective | None = None) -> Status:
    """Say how OP2 ends for a budget, in this precedence.

    Zero budget, slack, binding (errata E3).

    The budget binds exactly below `market.most_that_can_be_spent`, Σ m_i θ̄_i over the owners with
    ε_i > 0: below it somebody with privacy to sell is not yet sure to sell, and more money buys
    more. Under another objective the owners are those whose acceptance is worth anything; one that
    has no value without any offer is infeasible at a zero budget, unless all sell for nothing.

    Parameters
    ----------
    market
        The market.
    budget
        B ≥ 0, in currency; finite.
    objective
        A separable objective; purchased privacy by default.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.0, 0.5, 1.0], smq.Uniform(0, 1))
    >>> [status_of(market, budget).name for budget in (0.0, 1.9, 2.0)]
    ['ZERO_BUDGET', 'BINDING', 'SLACK']
    """
    if objective is not None and not isinstance(objective, PurchasedPrivacy):
        return _status_of(market, budget, objective)
    if budget <= 0:
        return Status.ZERO_BUDGET
    if market.valuation.size is not None and budget < _CLEARLY_LESS * _most_roughly(market):
        return Status.BINDING
    return Status.SLACK if budget >= market.most_that_can_be_spent else Status.BINDING


def _status_of(market: Market, budget: float, objective: Objective) -> Status:
    utility = objective.utility(market)
    if budget <= 0:
        for_nothing = (market.low == 0) & (market.valuation.cdf(market.low) > 0)  # an atom at 0
        return Status.INFEASIBLE if np.any(utility.needed & ~for_nothing) else Status.ZERO_BUDGET
    counts = market.weights
    most = exact_dot(market.high, np.where(utility.wanted, counts, 0.0), up=True)
    return Status.SLACK if budget >= most else Status.BINDING


def _most_roughly(market: Market) -> float:
    """Return Σ m_i θ̄_i over the owners with ε_i > 0, rounded term by term."""
    counts = market.weights
    with np.errstate(over="ignore"):
        return float(np.add.reduce(market.high * (market.epsilon > 0) * counts))
