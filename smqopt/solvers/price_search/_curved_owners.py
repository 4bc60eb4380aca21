"""What owners answer to a price where some φ_i is curved.

Each is asked on her own.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.market import Choices, Market, Offers, Utility, choices, offers_from_acceptance
from smqopt.numeric import Floats
from smqopt.solvers.price_search._bracketing import CLOSE, SAMPLE, SAMPLE_CLOSE, Bracket, search

_HALF = 0.5
"""The acceptance at which the first price is guessed."""


class CurvedOwners:
    """The owners of a market under a concave objective.

    Keeps the answers that bracket the target.
    """

    def __init__(self, market: Market, utility: Utility) -> None:
        self._market, self._utility = market, utility
        self._target = math.inf
        self._below: tuple[float, Choices] | None = None
        self._above: tuple[float, Choices] | None = None

    def meet(self, target: float, start: float | None = None) -> tuple[Bracket, Offers]:
        """Search for x = 1/λ, from the answer for a sample where there are many rows."""
        market, slope = self._market, 1.0
        if start is None and market.n > 4 * SAMPLE:
            rows = np.arange(-(-market.n // SAMPLE) // 2, market.n, -(-market.n // SAMPLE), dtype=np.intp)
            counts = None if market.multiplicity is None else market.multiplicity[rows]
            few = Market(market.epsilon[rows], market.valuation.take(rows), multiplicity=counts)
            rough = CurvedOwners(few, self._utility.take(rows)).bracket(
                rows.size / market.n * target, self._guess(), slope, SAMPLE_CLOSE
            )
            start, slope = rough.below, rough.slope
        found = self.bracket(target, self._guess() if start is None else start, slope, CLOSE)
        return found, self._offers(self._at(found.below))

    def bracket(self, target: float, start: float, slope: float, close: float) -> Bracket:
        """Bracket x = 1/λ."""
        self._target = target
        return search(self._spend, target, start, slope, close)

    def fill(self, found: Bracket, offers: Offers, target: float) -> Offers:
        """Spend what is left between the answers at two neighbouring prices.

        As they are where thresholds are too coarse for that.
        """
        below, above = self._at(found.below), self._at(found.above)
        least, most = self._total(below.spend), self._total(above.spend)
        if not most > least:
            return offers
        share = min(max((target - least) / (most - least), 0.0), 1.0)
        between = below.acceptance + share * (above.acceptance - below.acceptance)
        filled = offers_from_acceptance(self._market, between)
        return filled if least <= self._total(filled.spend) <= target else offers

    def price(self, found: Bracket, offers: Offers) -> float:  # noqa: ARG002 -- as that of linear owners
        """Return λ of what was found."""
        return 1.0 / found.below

    def _guess(self) -> float:
        return float(np.max(self._market.high)) / float(np.max(self._utility.slope(np.full(self._market.n, _HALF))))

    def _spend(self, x: float) -> float:
        near = self._below or self._above
        one = choices(self._market, self._utility, 1.0 / x, start=None if near is None else near[1].slope)
        total = self._total(one.spend)
        if total <= self._target:
            self._below = (x, one)
        else:
            self._above = (x, one)
        return total

    def _at(self, x: float) -> Choices:
        for kept in (self._below, self._above):
            if kept is not None and kept[0] == x:
                return kept[1]
        return choices(self._market, self._utility, 1.0 / x)

    def _total(self, spend: Floats) -> float:
        return math.fsum((self._market.weights * spend).tolist())

    @staticmethod
    def _offers(answers: Choices) -> Offers:
        thresholds, acceptance, lottery = answers.thresholds.copy(), answers.acceptance.copy(), answers.lottery()
        if lottery is not None:
            thresholds[lottery.owner], acceptance[lottery.owner] = lottery.low, lottery.acceptance
        return Offers(thresholds, acceptance, lottery)
