"""How a procurement program ends."""

from __future__ import annotations

import enum


class Status(enum.Enum):
    """The outcome of a solve; the value says what it means.

    Precedence is the order below.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> smq.solve(market, 5.0).status is smq.Status.SLACK
    True
    >>> print(smq.Status.ZERO_BUDGET)
    the budget is zero: no owner gets an offer
    """

    ZERO_BUDGET = "the budget is zero: no owner gets an offer"
    SLACK = "the budget does not bind: more money buys nothing, as all privacy that the constraints allow is bought"
    BINDING = "the budget is spent, and its price is positive"
    INFEASIBLE = "no thresholds satisfy all constraints"
    UNREACHABLE = "no budget reaches the privacy asked for: it exceeds what all owners together have to sell"

    def __str__(self) -> str:
        return self.value
