"""The expected number of owners who sell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from smqopt.market._market import Market
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._objective_record import Objective, given_weights, weights_of
from smqopt.market.objectives._utility import Linear
from smqopt.numeric import NumberList


@dataclass(frozen=True)
class BoughtOwners(Objective):
    """The largest expected number of owners who sell, Σ m_i w_i q_i.

    Parameters
    ----------
    weights
        What each owner counts, w ≥ 0: one number for each row of the market, or one for all. 1 by
        default.

    Raises
    ------
    InputError
        If a weight is not a finite number ≥ 0.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> smq.solve(market, 0.75, objective=smq.BoughtOwners()).acceptance.round(6).tolist()
    [0.5, 0.5, 0.5]
    """

    kind: ClassVar[str] = "bought-owners"

    weights: NumberList | float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", given_weights(self, self.weights, least=0.0))

    @property
    def words(self) -> str:
        """The objective in words."""
        return "the expected number of sellers, Σ q" if self.weights is None else "weighted sellers, Σ w q"

    def utility(self, market: Market) -> Linear:
        """Return φ_i(q) = w_i q."""
        return Linear(weights_of(self, self.weights, market))

    def linear_form(self, market: Market) -> LinearTerms:
        """Return the weights."""
        return LinearTerms(self.utility(market).each)
