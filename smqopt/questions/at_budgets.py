"""A market with constraints, solved and judged at one budget after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smqopt.program.constraints.record import ConstraintRecord
from smqopt.program.constraints.statement import state
from smqopt.program.market import Market
from smqopt.program.status import Status
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
        self._statement = state(market, constraints)
        self._multipliers: NDArray[np.float64] | None = None

    def certified(self, budget: float, *, blame: bool = True) -> Certificate:
        """Give the judged solution at a budget ≥ 0; its status may be INFEASIBLE, with constraints to blame where they are wanted."""
        solution = solve_statement(self._statement, budget, start=self._multipliers, blame=blame)
        if solution.status is Status.BINDING:
            self._multipliers = np.append(solution.budget_price, solution.constraint_prices)
        return verify(solution)
