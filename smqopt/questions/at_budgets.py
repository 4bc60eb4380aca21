"""A market with constraints, solved and judged at one budget after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smqopt.program.constraints.pooled import pool
from smqopt.program.constraints.record import ConstraintRecord
from smqopt.program.constraints.statement import state
from smqopt.program.market import Market
from smqopt.program.solution import Solution
from smqopt.program.status import Status
from smqopt.solvers.structured.pooled import solve_pooled, spend_on_all
from smqopt.solvers.structured.solve import solve_statement
from smqopt.verification.certificate import Certificate
from smqopt.verification.verify import verify

__all__ = ["AtBudgets"]


class AtBudgets:
    """Solves one statement at many budgets; each search starts from the multipliers of the last.

    Parameters
    ----------
    market
        n owners.
    constraints
        Constraint records.
    """

    def __init__(self, market: Market, constraints: Sequence[ConstraintRecord]) -> None:
        self._pooled = pool(market, constraints)
        self._statement = state(market, constraints) if self._pooled is None else None
        self._multipliers: NDArray[np.float64] | None = None
        self.most = market.most_that_can_be_spent if self._pooled is None else spend_on_all(self._pooled)
        """What buying from everybody costs, in currency."""

    def certified(self, budget: float, *, blame: bool = True) -> Certificate:
        """Give the judged solution at a budget ≥ 0; its status may be INFEASIBLE, with constraints to blame where they are wanted."""
        if self._statement is None:
            return verify(self._with_pooled_groups(budget))
        solution = solve_statement(self._statement, budget, start=self._multipliers, blame=blame)
        if solution.status is Status.BINDING:
            self._multipliers = np.append(solution.budget_price, solution.constraint_prices)
        return verify(solution)

    def _with_pooled_groups(self, budget: float) -> Solution:
        assert self._pooled is not None  # noqa: S101 -- or there is a statement
        near = None if self._multipliers is None else float(self._multipliers[0])
        solution = solve_pooled(self._pooled, budget, near=near)
        if solution.status is Status.BINDING:
            self._multipliers = np.array([solution.budget_price])
        return solution
