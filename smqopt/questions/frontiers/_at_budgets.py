"""A market with constraints, stated once, solved and judged at one budget after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smqopt.market import ConstraintRecord, Market, Pooled, Solution, Stated, Statement, Status, pool, state
from smqopt.numeric import GAP
from smqopt.solvers import solve_pooled, solve_statement, spend_on_all
from smqopt.verification import Assessment, assess, bounds


class AtBudgets:
    """Solves one statement at many budgets; each search starts from the multipliers of the last.

    Parameters
    ----------
    market
        n owners.
    constraints
        Constraint records, at least one.
    """

    def __init__(self, market: Market, constraints: Sequence[ConstraintRecord]) -> None:
        self._form: Stated = pool(market, constraints) or state(market, constraints)
        self._multipliers: NDArray[np.float64] | None = None
        self.most = spend_on_all(self._form) if isinstance(self._form, Pooled) else market.most_that_can_be_spent
        """What buying from everybody costs, in currency."""

    def solve(self, budget: float, *, with_conflict: bool = True) -> Solution:
        """Solve at a budget ≥ 0; the status may be INFEASIBLE, with its conflict where that is wanted."""
        if isinstance(self._form, Statement):
            solution = solve_statement(self._form, budget, start=self._multipliers, with_conflict=with_conflict)
        else:
            near = None if self._multipliers is None else float(self._multipliers[0])
            solution = solve_pooled(self._form, budget, near=near)
        if solution.status is Status.BINDING:
            self._multipliers = np.append(solution.budget_price, solution.constraint_prices)
        return solution

    def judge(self, solution: Solution) -> Assessment:
        """Judge what `solve` gave, as `verify` does, with the constraints as they were stated."""
        return assess(solution, None, GAP.value, form=self._form)

    def judged_bounds(self, solution: Solution) -> tuple[float, float]:
        """Give the bounds on V that stand when what `solve` gave is judged, in units of ε."""
        found = self.judge(solution)
        return found.lower_bound, found.upper_bound

    def bounds(self, solution: Solution) -> tuple[float, float]:
        """Bound V at the budget of what `solve` gave, in units of ε: from below by what it buys, from above by weak duality.

        That its thresholds keep budget and constraints is taken on the solver's word.
        """
        return bounds(solution, self._form, keeps=True)
