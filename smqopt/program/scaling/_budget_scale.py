"""What the current budget makes of the normalised program's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cvxpy as cp

from smqopt.market import Market, Units, even_acceptance
from smqopt.program.cones._pieces import Pieces

_SMALLEST_BUDGET = 2.0**-60
"""In units of total payments: a solver takes budgets below for none, and they must not be divided
by."""


class BudgetScale:
    """Parameters that scale the budget's row by the budget.

    A solver stops on residuals that are absolute below 1, so it is brought to the order of 1 for
    every budget.

    Attributes
    ----------
    inverse_budget, share
        Parameters of the row  inverse_budget · Σ weights_i spend_i/currency_i ≤ share.
    even
        An acceptance that the budget pays for if all owners have the same; None before `refresh`.
    """

    def __init__(self, market: Market, units: Units, budget: Callable[[], float], pieces: Sequence[Pieces]) -> None:
        self._market, self._units, self._budget, self._pieces = market, units, budget, pieces
        self.even: float | None = None
        self.inverse_budget, self.share = (cp.Parameter(nonneg=True, value=1.0) for _ in range(2))

    def refresh(self) -> float:
        """Set the parameters for the budget as it is now; return `even`."""
        budget = self._budget()
        divisor = max(budget / self._units.payments, _SMALLEST_BUDGET)
        self.inverse_budget.value = 1.0 / divisor
        self.share.value = budget / self._units.payments / divisor
        even = even_acceptance(self._market, budget)
        for one in self._pieces:
            one.start(even) if self.even is None else one.widen()
        self.even = even
        return even

    def budget_unit(self) -> float:
        """Return what the budget's row was divided by, in currency."""
        return self._units.payments / float(self.inverse_budget.value)
