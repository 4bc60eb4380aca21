"""Which of its ends a market and a budget lead to, before any solver runs."""

from __future__ import annotations

from smqopt.program.market import Market
from smqopt.program.status import Status

__all__ = ["status_of"]


def status_of(market: Market, budget: float) -> Status:
    """Classify plain OP2, in this precedence: zero budget, slack (B ≥ Σ θ̄_i over owners with ε_i > 0), binding (errata E3).

    Parameters
    ----------
    market
        n owners.
    budget
        B ≥ 0, in currency.
    """
    if budget == 0:
        return Status.ZERO_BUDGET
    return Status.SLACK if budget >= market.most_that_can_be_spent else Status.BINDING
