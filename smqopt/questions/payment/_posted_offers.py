"""The offers that a solution makes, one line for each possible threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market import PurchasedPrivacy, Solution
from smqopt.numeric import Floats
from smqopt.valuation import Valuation


@dataclass(frozen=True, eq=False)
class OffersMade:
    """Thresholds with the chances that they are posted and accepted.

    Arrays of one length; owners without an offer have no line.
    """

    row: NDArray[np.intp]
    """Of the market."""
    threshold: Floats
    """In currency."""
    chance: Floats
    """That this threshold is posted: 1 but for lotteries."""
    acceptance: Floats
    """F(θ)."""


def require_purchased_privacy(solution: Solution, question: str) -> None:
    """Refuse a solution for another objective than purchased privacy.

    Raises
    ------
    InputError
        Naming the objective.
    """
    if not isinstance(solution.objective, PurchasedPrivacy):
        raise InputError(
            f"{question}: argument 'solution'",
            "must be one that buys as much privacy as can be",
            value=solution.objective.kind,
            remedy="solve with the default objective",
        )


def offers_of(solution: Solution) -> OffersMade:
    """Lay out a solution's offers."""
    lottery = solution.lottery
    single = solution.acceptance > 0
    if lottery is not None:
        single[lottery.owner] = False
    row = np.flatnonzero(single)
    plain = OffersMade(row, solution.thresholds[row], np.ones(row.size), solution.acceptance[row])
    if lottery is None:
        return plain
    kept = []
    for theta, p, q in zip(lottery.prices.T, lottery.probabilities.T, lottery.acceptances.T, strict=True):
        posted = q > 0
        kept.append(OffersMade(lottery.owner[posted], theta[posted], p[posted], q[posted]))
    columns = [
        np.concatenate([getattr(one, name) for one in (plain, *kept)])
        for name in ("row", "threshold", "chance", "acceptance")
    ]
    return OffersMade(*columns)


def accepted_under(law: Valuation, offers: OffersMade) -> Floats:
    """Return F(θ) of each offer under another law."""
    own = law.take(offers.row) if law.size is not None else law
    return own.cdf(offers.threshold)
