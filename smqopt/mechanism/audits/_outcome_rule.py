"""What an audit asks of a mechanism: an owner's outcome by her own report."""

from __future__ import annotations

import abc
from typing import ClassVar

import numpy as np

from smqopt.errors import check_kind
from smqopt.market import Market, checked_budget
from smqopt.mechanism.audits._responses import Responses
from smqopt.numeric import Floats
from smqopt.valuation import Valuation


class OutcomeRule(abc.ABC):
    """A direct mechanism (q, p), one outcome for each owner.

    A rule of one's own needs `responses` alone.

    Parameters
    ----------
    market
        Who sells. Rows of alike owners are spread out: a rule speaks of N = `market.population`
        owners, one by one.
    budget
        B ≥ 0, in currency.

    Examples
    --------
    Pay what was asked: each owner is offered 0.5, and is paid her report.

    >>> import numpy as np
    >>> import smqopt as smq
    >>> class PayAsBid(OutcomeRule):
    ...     name = "pay as bid"
    ...     depends_on_others = False
    ...     def responses(self, reports: np.ndarray, rng: np.random.Generator) -> smq.Responses:
    ...         return smq.Responses.offers([0.5] * self.n, paid=0.0, slope=1.0)
    >>> found = smq.audit(PayAsBid(smq.Market([1.0, 1.0], smq.Uniform(0, 1)), 0.5))
    >>> found.passes, found.interim.gain.tolist(), found.interim.report.tolist()
    (False, [0.5, 0.5], [0.5, 0.5])
    """

    name: ClassVar[str] = "rule"
    """In a few words, for records."""
    depends_on_others: ClassVar[bool] = True
    """Whether an owner's outcome depends on the others' reports or on draws; where not, its
    responses are its expectation and its only case."""
    keeps_budget_always: ClassVar[bool] = False
    """Whether it promises that no run pays more than the budget; else it keeps it in expectation.
    """

    def __init__(self, market: Market, budget: float) -> None:
        check_kind(market, Market, "outcome rule: argument 'market'", "a Market", "give one")
        self.market = market.expand()
        self.budget = checked_budget(budget, "outcome rule: argument 'budget'")

    @property
    def n(self) -> int:
        """N."""
        return self.market.n

    @abc.abstractmethod
    def responses(self, reports: Floats, rng: np.random.Generator) -> Responses:
        """Return each owner's outcome by her own report, the others' as given.

        Parameters
        ----------
        reports
            ψ, shape (N,), in currency. What is given for owner i depends on all of them but her
            own.
        rng
            Makes the rule's own draws; those must not look at reports.
        """

    def interim(self, law: Valuation) -> Responses | None:  # noqa: ARG002
        """Return Q_i(ψ) and P_i(ψ) exactly (`Qi`, `Pi`).

        They are expectations over the others' valuations and the rule's own draws.

        None leaves it to the audit, which then draws the others' valuations; so does the default,
        where outcomes depend on others.

        Parameters
        ----------
        law
            The law of valuations that the owners believe in: common, or one an owner.
        """
        return None if self.depends_on_others else self._alone()

    def worst_cases(self) -> tuple[Responses, ...] | None:
        """Return responses that include each owner's worst and most tempting ones.

        Whatever others report.

        None leaves it to the audit, which then looks at the cases that it draws; so does the
        default, where outcomes depend on others.
        """
        return None if self.depends_on_others else (self._alone(),)

    def _alone(self) -> Responses:
        return self.responses(np.zeros(self.n), np.random.default_rng(0))
