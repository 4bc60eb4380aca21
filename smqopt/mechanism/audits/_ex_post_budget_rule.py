"""Posted thresholds with transfers that keep every total (Lemma 2, E11)."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from smqopt.errors import InputError
from smqopt.market import Solution
from smqopt.mechanism.audits._expected_outcome import expected_outcome
from smqopt.mechanism.audits._outcome_rule import OutcomeRule
from smqopt.mechanism.audits._posted_rule import PostedThresholds, posted_in_expectation
from smqopt.mechanism.audits._responses import Responses
from smqopt.numeric import Floats, exact_sum
from smqopt.valuation import Valuation


@final
class ExPostBudget(OutcomeRule):
    """p_i(ψ) = P_i(ψ_i) − (1/(N−1)) Σ_{j≠i} (P_j(ψ_j) − E P_j).

    P_j is the posted payment and E P_j its expectation under the solution's law.

    The total is Σ E P_j in every run, whatever is true of valuations. Transfers do not depend on
    one's own report, so truth stays dominant; but one that others sell more than the solution
    expects falls on those who do not, so with another law participation may break where the budget
    does not.

    Parameters
    ----------
    solution
        Thresholds for a market and a budget, of at least two owners.

    Raises
    ------
    InputError
        If there is one owner only.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> rule = smq.ExPostBudget(smq.solve(market, 0.5))
    >>> smq.audit(rule).passes
    True
    """

    name: ClassVar[str] = "ex-post budget"
    keeps_budget_always: ClassVar[bool] = True

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution.market, solution.budget)
        if self.n < 2:
            raise InputError(
                "ex-post budget",
                "needs at least two owners, to share what others are paid",
                value=1,
                remedy="post thresholds",
            )
        self.solution = solution
        self._posted = PostedThresholds(solution)
        self._expected = expected_outcome(posted_in_expectation(solution), self.market.valuation).payment

    @property
    def total(self) -> float:
        """What every run pays, Σ E P_j, rounded once; in currency."""
        return exact_sum(self._expected)

    def responses(self, reports: Floats, rng: np.random.Generator) -> Responses:
        """Return the responses after one draw of the lotteries."""
        posted = self._posted.responses(reports, rng)
        return posted.plus(self._transfer(posted.at(reports)[1]))

    def interim(self, law: Valuation) -> Responses:
        """Return the expectation over lotteries and the others' valuations."""
        posted = posted_in_expectation(self.solution)
        return posted.plus(self._transfer(expected_outcome(posted, law).payment))

    def worst_cases(self) -> tuple[Responses, ...]:
        """Return each draw of her own lottery, all others selling at their highest."""
        cases = self._posted.worst_cases()
        dearest = self._transfer(cases[0].at(np.zeros(self.n))[1])
        return tuple(case.plus(dearest) for case in cases)

    def _transfer(self, paid: Floats) -> Floats:
        """Return −(1/(N−1)) Σ_{j≠i} (P_j − E P_j), shape (N,), in currency."""
        excess = paid - self._expected
        return -(np.sum(excess) - excess) / (self.n - 1)
