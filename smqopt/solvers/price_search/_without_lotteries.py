"""One threshold for each owner who would draw, as far as the budget goes."""

from __future__ import annotations

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import Market, Offers, Utility


def one_price_each(market: Market, utility: Utility, offers: Offers, target: float) -> Offers:
    """Return the higher threshold where it is worth most for its cost, else the lower.

    As far as the budget goes.

    Parameters
    ----------
    market, utility
        n rows.
    offers
        With lotteries.
    target
        What may be spent, in currency.

    Raises
    ------
    SolverError
        If the objective has no finite value without more than the budget allows.
    """
    drawn = offers.lottery
    assert drawn is not None  # noqa: S101
    rows = drawn.owner
    counts = market.weights
    own = utility.take(rows)
    with np.errstate(invalid="ignore"):
        gain = own.value(drawn.high_acceptance) - own.value(drawn.low_acceptance)
    rise = drawn.high * drawn.high_acceptance - drawn.low * drawn.low_acceptance
    order = np.argsort(-gain / rise, kind="stable")
    theta, q = offers.thresholds.copy(), offers.acceptance.copy()
    theta[rows], q[rows] = drawn.low, drawn.low_acceptance
    left = target - float(np.sum(counts * theta * q))
    raised = order[np.cumsum((counts[rows] * rise)[order]) <= left]
    theta[rows[raised]], q[rows[raised]] = drawn.high[raised], drawn.high_acceptance[raised]
    if not np.isfinite(utility.value(q)).all():
        raise SolverError(
            "dual solver",
            "found no prices without lotteries that give the objective a finite value",
            value=f"budget {target:g}",
            remedy="allow lotteries, or raise the budget",
        )
    return Offers(theta, q)
