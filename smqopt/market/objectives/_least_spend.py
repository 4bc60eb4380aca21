"""The least spend that the constraints allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smqopt.market._market import Market
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._objective_record import Objective


@dataclass(frozen=True)
class LeastSpend(Objective):
    """The least expected spend Σ m_i b_i that keeps all constraints.

    Without a constraint that demands acceptances nothing is bought. Under scenarios it is the spend
    of the worst one, or the weighted mean.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> half = smq.Coverage([True] * 3, at_least=1.5)
    >>> solution = smq.solve(market, 3.0, objective=smq.LeastSpend(), constraints=[half])
    >>> solution.thresholds.round(6).tolist(), round(solution.objective_value, 6)
    ([0.5, 0.5, 0.5], 0.75)
    """

    kind: ClassVar[str] = "least-spend"
    separable: ClassVar[bool] = False

    @property
    def smallest(self) -> bool:
        """It is minimised."""
        return True

    @property
    def words(self) -> str:
        """The objective in words."""
        return "the expected spend, Σ b"

    def linear_form(self, market: Market) -> LinearTerms:
        """Return the spend."""
        return LinearTerms(np.zeros(market.n), price=1.0)
