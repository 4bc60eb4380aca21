"""A market with constraints, solved and verified at many budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market import (
    ConstraintRecord,
    Expansion,
    Market,
    MeanSquaredError,
    Objective,
    PurchasedPrivacy,
    Solution,
    Status,
    expansion_of,
    state,
)
from smqopt.numeric import GAP, exact_dot
from smqopt.solvers import StructuredSolver, solve
from smqopt.verification import Assessment, assess, bounds

if TYPE_CHECKING:
    from smqopt.program import Program


def as_records(
    problem: Market | Program, constraints: Sequence[ConstraintRecord], objective: Objective | None
) -> tuple[Market, Sequence[ConstraintRecord], Objective]:
    """Return a market, its constraints and objective; of a program all that was added.

    Raises
    ------
    InputError
        If constraints or an objective come beside a program, it cannot be stated as records, or the
        objective is neither a sum over owners nor made of linear terms and minima.
    """
    if objective is not None and not (isinstance(objective, Objective) and _is_stated(objective)):
        raise InputError(
            "argument 'objective'",
            "must be a record of a sum over owners, or of linear terms and minima",
            value=type(objective).__name__,
            remedy="give, say, smq.DiminishingReturns(scale=0.3); of errors ask error_frontier",
        )
    if isinstance(problem, Market):
        return problem, constraints, PurchasedPrivacy() if objective is None else objective
    if type(problem).__name__ != "Program":
        raise InputError(
            "argument 'market'", "must be a Market or a Program", value=type(problem).__name__, remedy="make a Market"
        )
    for name, given in (("constraints", bool(constraints)), ("objective", objective is not None)):
        if given:
            raise InputError(f"argument {name!r}", "belongs to the program", remedy="give it to Program(...)")
    return problem.as_records()


def _is_stated(objective: Objective) -> bool:
    if isinstance(objective, MeanSquaredError):
        return False
    return objective.separable or type(objective).linear_form is not Objective.linear_form


def _most_of(e: Expansion | None) -> float:
    """Return what buying from everybody costs under the dearest law each, in currency."""
    assert e is not None  # noqa: S101
    ceilings = state(e.market, e.records).ceilings()[: len(e.base) * e.n]
    return exact_dot(ceilings.reshape(-1, e.n).max(axis=0), e.base[0].weights, up=True)


class AtBudgets:
    """Solve one program at many budgets, an ordinary one from the last multipliers.

    Parameters
    ----------
    market
        n owners.
    constraints
        Constraint records.
    objective
        What `as_records` takes; purchased privacy by default. Values are in the direction of
        maximising: those of one that is minimised are negative.
    """

    def __init__(
        self, market: Market, constraints: Sequence[ConstraintRecord], objective: Objective | None = None
    ) -> None:
        self._objective = PurchasedPrivacy() if objective is None else objective
        self.sign = -1.0 if self._objective.smallest else 1.0
        self._multipliers: NDArray[np.float64] | None = None
        other = expansion_of(market, 1.0, constraints, self._objective)
        self._market, self._records = market, tuple(constraints)
        self._form = state(market, constraints) if other is None else None
        self.has_tangents = other is None or other.never_negative
        """Whether λ is the slope of a tangent; where spend counts it is one at smaller budgets, and
        to the last digits not at larger ones."""
        self.most = _most_of(other) if self._form is None else self._form.most_that_can_be_spent()
        """What buying from everybody costs, in currency."""

    def solve(self, budget: float, *, with_conflict: bool = True) -> Solution:
        """Solve at a budget ≥ 0; where INFEASIBLE, find the conflict if wanted."""
        if self._form is None:
            route = StructuredSolver(with_conflict=with_conflict)
            return solve(self._market, budget, solver=route, objective=self._objective, constraints=self._records)
        route = StructuredSolver(start=self._multipliers, with_conflict=with_conflict)
        solution = route.solve(self._form, budget, self._objective)
        if solution.status is Status.BINDING:
            self._multipliers = np.append(solution.budget_price, solution.constraint_prices)
        return solution

    def value(self, solution: Solution) -> float:
        """Return V at the budget as the solution has it."""
        return self.sign * solution.objective_value

    def verify(self, solution: Solution) -> Assessment:
        """Verify what `solve` returned, with the constraints as they were stated."""
        return assess(solution, None, GAP.value, form=self._form)

    def verified_bounds(self, solution: Solution) -> tuple[float, float]:
        """Return the verified bounds on V, in units of the objective."""
        found = self.verify(solution)
        return self._as_largest(found.lower_bound, found.upper_bound)

    def bounds(self, solution: Solution) -> tuple[float, float]:
        """Bound V at the budget: by what it buys, and by weak duality.

        That its thresholds keep budget and constraints is taken on the solver's word, but where the
        program is stated as another one.
        """
        if self._form is None:
            return self.verified_bounds(solution)
        return self._as_largest(*bounds(solution, self._form, keeps=True))

    def _as_largest(self, lower: float, upper: float) -> tuple[float, float]:
        return (lower, upper) if self.sign > 0 else (-upper, -lower)
