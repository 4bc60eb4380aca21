"""Units in which a solver sees a program, those of the budget as it is now."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp

from smqopt.market import Market, even_acceptance, units_of
from smqopt.numeric import Floats
from smqopt.program.cones._pieces import Pieces
from smqopt.program.scaling._moderate_atoms import power_of_two

_SMALLEST_BUDGET = 2.0**-60
"""In units of total payments: a solver takes budgets below for none, and they must not be divided
by."""
_LEAST_UNIT = 2.0**-20
"""Of total payments, in which spend is counted at small budgets."""


class Scaling:
    """The statement's own parts as a solver is to see them.

    A solver stops on residuals that are absolute below 1, so the budget's row is brought to the
    order of 1 for every budget:  inverse · Σ weights_i spend_i/currency_i ≤ share.

    The budget's row is kept as it stands in `rows`, which says for the id of each constraint of the
    statement what its row is, and by which factor the constraint is larger; others are rewritten
    for `unitless_spend`. `pieces` stand in place of cost curves, and are refined to `target_gap`.
    """

    def __init__(
        self,
        market: Market,
        variables: tuple[cp.Variable, cp.Variable],
        budget: Callable[[], float],
        target_gap: float,
    ) -> None:
        units = units_of(market)
        self._share_of_all = min(max(power_of_two(budget() / units.payments), _LEAST_UNIT), 1.0)
        self.acceptance, self.spend = variables
        self.unitless_spend = cp.Variable(market.n, name="unitless_spend")
        self.currency: Floats = units.currency * self._share_of_all
        self.rows: dict[int, tuple[cp.Constraint, float | Floats]] = {}
        self.pieces: list[Pieces] = []
        self.target_gap = target_gap
        self._market, self._budget = market, budget
        self._payments, self._weights = units.payments * self._share_of_all, units.weights
        self._started = False
        self._inverse, self._share = (cp.Parameter(nonneg=True, value=1.0) for _ in range(2))
        self._budget_row: cp.Constraint = self._inverse * (units.weights @ self.unitless_spend) <= self._share

    def state_budget(self, constraint: cp.Constraint) -> None:
        """Let a constraint be the budget."""
        self.rows[id(constraint)] = self._budget_row, self._payments

    def refresh(self) -> float:
        """Set what hangs on the budget; return an acceptance that it can pay for."""
        budget = self._budget()
        divisor = max(budget / self._payments, _SMALLEST_BUDGET)
        self._inverse.value, self._share.value = 1.0 / divisor, budget / self._payments / divisor
        even = even_acceptance(self._market, budget)
        for one in self.pieces:
            one.widen() if self._started else one.start(even)
        self._started = True
        return even

    def unit_of(self, constraint: cp.Constraint) -> float | Floats:
        """Return the factor by which a constraint of the statement is larger than its row."""
        row, unit = self.rows[id(constraint)]
        return unit / float(self._inverse.value) if row is self._budget_row else unit
