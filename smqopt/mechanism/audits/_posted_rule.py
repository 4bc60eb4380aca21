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
    """K thresholds an owner, shape (N, K) each; the same ones where she does not draw."""

    thresholds: Floats
    offered: NDArray[np.bool_]
    chances: Floats
    in_lottery: NDArray[np.bool_]
    """Shape (N,)."""


@final
class PostedThresholds(OutcomeRule):
    """Each owner sells at reports up to her threshold, and is paid it.

    The thresholds need no certificate to be audited.

    Parameters
    ----------
    solution
        Thresholds for a market and a budget, from whatever source.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> smq.audit(smq.PostedThresholds(smq.solve(market, 0.5))).passes
    True
    """

    name: ClassVar[str] = "posted thresholds"

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution.market, solution.budget)
        self.solution = solution
        self._draws = _draws(solution)

    def responses(self, reports: Floats, rng: np.random.Generator) -> Responses:  # noqa: ARG002
        """Return the responses to thresholds after one draw of the lotteries."""
        draws = self._draws
        every, column = np.arange(self.n), np.zeros(self.n, dtype=np.intp)
        who = np.flatnonzero(draws.in_lottery)  # as `procure` draws
        passed = np.cumsum(draws.chances[who, :-1], axis=1) <= rng.random(who.size)[:, np.newaxis]
        column[who] = passed.sum(axis=1)
        return Responses.offers(draws.thresholds[every, column], offered=draws.offered[every, column])

    def interim(self, law: Valuation) -> Responses:  # noqa: ARG002
        """Return the expectation over the lotteries; others' reports change nothing."""
        return posted_in_expectation(self.solution)

    def worst_cases(self) -> tuple[Responses, ...]:
        """Return each draw of every lottery, highest first: all cases that there are."""
        draws = self._draws
        columns = reversed(range(draws.thresholds.shape[1]))
        return tuple(Responses.offers(draws.thresholds[:, k], offered=draws.offered[:, k]) for k in columns)


def posted_in_expectation(solution: Solution) -> Responses:
    """Return each owner's chance of sale and expected payment by her report."""
    draws = _draws(solution)
    if solution.lottery is None:
        return Responses.offers(draws.thresholds[:, 0], offered=draws.offered[:, 0])
    chance, theta = np.where(draws.offered, draws.chances, 0.0), draws.thresholds.copy()
    nothing = np.zeros((theta.shape[0], 1))
    sale, paid = (np.hstack([np.cumsum(each[:, ::-1], axis=1)[:, ::-1], nothing]) for each in (chance, chance * theta))
    again = np.diff(theta, axis=1) <= 0
    theta[:, 1:][again] = np.inf  # no other price: no knot
    return Responses(theta, sale, paid, np.zeros(sale.shape), sale[:, :-1], paid[:, :-1])


def _draws(solution: Solution) -> _Draws:
    n, count, lottery = solution.market.n, solution.market.multiplicity, solution.lottery
    K = 1 if lottery is None else lottery.prices.shape[1]
    theta = np.repeat(solution.thresholds[:, np.newaxis], K, axis=1)
    offered = np.repeat(solution.acceptance[:, np.newaxis] > 0, K, axis=1)
    chances, drawn = np.repeat([[1.0, *[0.0] * (K - 1)]], n, axis=0), np.zeros(n, dtype=np.bool_)
    if lottery is not None:
        theta[lottery.owner], offered[lottery.owner] = lottery.prices, lottery.acceptances > 0
        chances[lottery.owner], drawn[lottery.owner] = lottery.probabilities, True
    rows = np.arange(n) if count is None else np.repeat(np.arange(n), count)
    return _Draws(theta[rows], offered[rows], chances[rows], drawn[rows])
