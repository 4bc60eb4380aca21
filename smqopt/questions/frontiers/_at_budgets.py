"""A market with constraints, solved and verified at many budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market import ConstraintRecord, Market, PurchasedPrivacy, Solution, Status, state
from smqopt.numeric import GAP
from smqopt.solvers import StructuredSolver
from smqopt.verification import Assessment, assess, bounds

if TYPE_CHECKING:
    from smqopt.program import Program


def as_records(
    problem: Market | Program, constraints: Sequence[ConstraintRecord]
) -> tuple[Market, Sequence[ConstraintRecord]]:
    """Return a market and its constraints; of a program all that was added to it.

    Raises
    ------
    InputError
        If constraints come beside a program, or it cannot be stated as records.
    """
    if isinstance(problem, Market):
        return problem, constraints
    if type(problem).__name__ != "Program":
        raise InputError(
            "argument 'market'", "must be a Market or a Program", value=type(problem).__name__, remedy="make a Market"
        )
    if constraints:
        raise InputError("argument 'constraints'", "belongs to the program", remedy="give them to Program(...)")
    return problem.as_records()


class AtBudgets:
    """Solve one statement at many budgets, each from the last multipliers.

    Parameters
    ----------
    market
        n owners.
    constraints
        Constraint records, at least one.
    """

    def __init__(self, market: Market, constraints: Sequence[ConstraintRecord]) -> None:
        self._form = state(market, constraints)
        self._multipliers: NDArray[np.float64] | None = None
        self.most = self._form.most_that_can_be_spent()
        """What buying from everybody costs, in currency."""

    def solve(self, budget: float, *, with_conflict: bool = True) -> Solution:
        """Solve at a budget ≥ 0; where INFEASIBLE, find the conflict if wanted."""
        route = StructuredSolver(start=self._multipliers, with_conflict=with_conflict)
        solution = route.solve(self._form, budget, PurchasedPrivacy())
        if solution.status is Status.BINDING:
            self._multipliers = np.append(solution.budget_price, solution.constraint_prices)
        return solution

    def verify(self, solution: Solution) -> Assessment:
        """Verify what `solve` returned, with the constraints as they were stated."""
        return assess(solution, None, GAP.value, form=self._form)

    def verified_bounds(self, solution: Solution) -> tuple[float, float]:
        """Return the verified bounds on V, in units of ε."""
        found = self.verify(solution)
        return found.lower_bound, found.upper_bound

    def bounds(self, solution: Solution) -> tuple[float, float]:
        """Bound V at the budget: by what it buys, and by weak duality; units of ε.

        That its thresholds keep budget and constraints is taken on the solver's word.
        """
        return bounds(solution, self._form, keeps=True)
