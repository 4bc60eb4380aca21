"""Algorithm 1 as a rule to be audited: thresholds posted, lotteries drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Solution
from smqopt.mechanism.audits._outcome_rule import OutcomeRule
from smqopt.mechanism.audits._responses import Responses
from smqopt.numeric import Floats
from smqopt.valuation import Valuation


@dataclass(frozen=True, eq=False)
class _Draws:
    """Two thresholds an owner, shape (N,) each; equal where she does not draw."""

    low: Floats
    high: Floats
    offered_low: NDArray[np.bool_]
    offered_high: NDArray[np.bool_]
    chance_of_low: Floats
    in_lottery: NDArray[np.bool_]


@final
class PostedThresholds(OutcomeRule):
    """Each owner sells at reports up to her threshold, and is paid it.

    The thresholds need no certificate to be audited.

    Parameters
    ----------
    solution
        Thresholds for a market and a budget, from whatever source.
    """

    name: ClassVar[str] = "posted thresholds"

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution.market, solution.budget)
        self.solution = solution
        self._draws = _draws(solution)

    def responses(self, reports: Floats, rng: np.random.Generator) -> Responses:  # noqa: ARG002
        """Return the responses to thresholds after one draw of the lotteries."""
        draws = self._draws
        low = np.ones(self.n, dtype=np.bool_)
        who = np.flatnonzero(draws.in_lottery)  # as `procure` draws
        low[who] = rng.random(who.size) < draws.chance_of_low[who]
        return Responses.offers(
            np.where(low, draws.low, draws.high), offered=np.where(low, draws.offered_low, draws.offered_high)
        )

    def interim(self, law: Valuation) -> Responses:  # noqa: ARG002
        """Return the expectation over the lotteries; others' reports change nothing."""
        return posted_in_expectation(self.solution)

    def worst_cases(self) -> tuple[Responses, ...]:
        """Return both draws of every lottery: all cases that there are."""
        draws = self._draws
        cases = [Responses.offers(draws.high, offered=draws.offered_high)]
        if self.solution.lottery is not None:
            cases.append(Responses.offers(draws.low, offered=draws.offered_low))
        return tuple(cases)


def posted_in_expectation(solution: Solution) -> Responses:
    """Return each owner's chance of sale and expected payment by her report."""
    draws = _draws(solution)
    if solution.lottery is None:
        return Responses.offers(draws.high, offered=draws.offered_high)
    nothing = np.zeros(draws.low.size)
    chance = np.column_stack(
        [
            np.where(draws.offered_low, draws.chance_of_low, 0.0),
            np.where(draws.offered_high, 1.0 - draws.chance_of_low, 0.0),
        ]
    )
    theta = np.column_stack([draws.low, draws.high])
    sale = np.column_stack([chance.sum(axis=1), chance[:, 1], nothing])
    paid = np.column_stack([(chance * theta).sum(axis=1), (chance * theta)[:, 1], nothing])
    theta[draws.low == draws.high, 1] = np.inf  # no draw: one knot
    return Responses(theta, sale, paid, np.zeros(sale.shape), sale[:, :2], paid[:, :2])


def _draws(solution: Solution) -> _Draws:
    n, count, lottery = solution.market.n, solution.market.multiplicity, solution.lottery
    low, high = solution.thresholds.copy(), solution.thresholds.copy()
    offered_low = solution.acceptance > 0
    offered_high, chance, drawn = offered_low.copy(), np.ones(n), np.zeros(n, dtype=np.bool_)
    if lottery is not None:
        low[lottery.owner], high[lottery.owner] = lottery.low, lottery.high
        offered_low[lottery.owner], offered_high[lottery.owner] = (
            lottery.low_acceptance > 0,
            lottery.high_acceptance > 0,
        )
        chance[lottery.owner], drawn[lottery.owner] = lottery.probability_of_low, True
    rows = np.arange(n) if count is None else np.repeat(np.arange(n), count)
    return _Draws(low[rows], high[rows], offered_low[rows], offered_high[rows], chance[rows], drawn[rows])
