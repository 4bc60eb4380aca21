"""One solution under each of several possible laws."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from smqopt.market._offers import Offers
from smqopt.market.expansion._make import expansion_of
from smqopt.market.expansion._posted import Posted
from smqopt.market.solution._solution import Solution
from smqopt.valuation import possible_laws


@dataclass(frozen=True, eq=False)
class UnderLaw:
    """What a solution comes to if one of the possible laws is true."""

    name: str
    """Which law: "law 1 of 2", or an edge of a band; empty where the law is not in doubt."""
    solution: Solution
    """The same posted prices, with acceptances and payments under this law."""
    budget_price: float
    """What one more unit of money under this law alone would add to the objective."""


def under_each_law(solution: Solution) -> tuple[UnderLaw, ...]:
    """Return what a solution comes to under each possible law; of one law itself.

    Parameters
    ----------
    solution
        Of any market.

    Raises
    ------
    InputError
        If objective or constraints do not fit the market.
    """
    if possible_laws(solution.market.valuation) is None:
        return (UnderLaw("", solution, solution.budget_price),)
    e = expansion_of(solution.market, solution.budget, solution.records, solution.objective)
    assert e is not None  # noqa: S101 -- its laws are in doubt
    posted = Posted.of(Offers(solution.thresholds, solution.acceptance, solution.lottery), e.n, 1)
    prices = solution.constraint_prices[e.budget_rows]
    prices = prices if prices.size == len(e.base) else np.full(len(e.base), np.nan)
    found = []
    for market, label, price in zip(e.base, e.labels, prices.tolist(), strict=True):
        offers = posted.offers(np.minimum(posted.acceptance_of(market.valuation), 1.0), np.array(market.low))
        one = dataclasses.replace(
            solution,
            market=market,
            market_fingerprint=market.fingerprint,
            thresholds=offers.thresholds,
            acceptance=offers.acceptance,
            lottery=offers.lottery,
        )
        found.append(UnderLaw(label.strip(" ()"), one, price))
    return tuple(found)
