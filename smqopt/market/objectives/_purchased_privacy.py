"""Purchased privacy, the objective of OP2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from smqopt.market._market import Market
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._utility import Linear
from smqopt.numeric import Floats


@dataclass(frozen=True)
class PurchasedPrivacy(Objective):
    """The largest purchased privacy, Σ m_i ε_i q_i, in units of ε (OP2). The default.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> smq.solve(market, 0.5, objective=PurchasedPrivacy()).objective_value == smq.solve(market, 0.5).purchased_privacy
    True
    """

    kind: ClassVar[str] = "purchased-privacy"

    @property
    def words(self) -> str:
        """The objective in words."""
        return "purchased privacy, Σ ε q"

    def utility(self, market: Market) -> Linear:
        """Return φ_i(q) = ε_i q."""
        return Linear(market.epsilon)

    def slope_in_requirements(self, market: Market, acceptance: Floats) -> Floats:  # noqa: ARG002
        """Return q, shape (n,)."""
        return acceptance

    def linear_form(self, market: Market) -> LinearTerms:
        """Return the requirements."""
        return LinearTerms(market.epsilon)
