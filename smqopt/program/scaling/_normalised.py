"""A cvxpy problem in the user's units, solved where all numbers are near 1.

Solvers stop on absolute residuals, so valuations of 1e-8 or 1e8 give wrong answers without a
warning. The solver therefore sees a sibling of the problem: spend_i is replaced by unit_i times a
variable of order 1, the statement's own rows are divided by their units, added rows by their size
at a typical point, and the objective by what the budget is known to buy. Values and duals come back
in the user's units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.reductions.solution import Solution as RawSolution

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.program.dcp._affine import dense
from smqopt.program.scaling._moderate_atoms import moderate, power_of_two
from smqopt.program.scaling._refinement import Refinement, refine
from smqopt.program.scaling._scaling import Scaling

_SCALABLE = (cp.constraints.Inequality, cp.constraints.Equality, cp.SOC)
_GOLDEN_RATIO = 0.5 * (1.0 + math.sqrt(5.0))


class NormalisedProblem(cp.Problem):  # type: ignore[misc]
    """A problem that is solved through its normalised sibling.

    All else is as for any `cvxpy.Problem`. Copies of acceptance and spend are tied to them, so that
    the multipliers of the ties tell what is stated in copies takes, smooth or not. Constraints with
    a nonlinear term of a size far from 1 are refused.

    Parameters
    ----------
    objective, constraints
        The problem, in the user's units.
    scaling
        How to normalise it.
    in_copies
        Which constraints are stated in copies; and whether the objective is.
    """

    def __init__(
        self,
        objective: cp.Maximize | cp.Minimize,
        constraints: Sequence[cp.Constraint | bool],
        scaling: Scaling,
        in_copies: tuple[Sequence[cp.Constraint], bool] = ((), False),
    ) -> None:
        super().__init__(objective, list(constraints))
        self._scaling = scaling
        self._divisors: dict[int, float] = {}
        self._alone: dict[tuple[int, ...], cp.Problem] = {}
        q, b = scaling.acceptance, scaling.unitless_spend
        self.copies = cp.Variable(q.size, name="acceptance"), cp.Variable(q.size, name="unitless_spend")
        self._in_copies = {id(one) for one in in_copies[0]}
        self._ties = [copy == one for copy, one in zip(self.copies, (q, b), strict=True) if in_copies[0]]
        own = cp.Variable(q.size, name="acceptance") if in_copies[1] else q
        self._tie = own == q
        value = objective.args[0].tree_copy({id(q): own, id(scaling.spend): cp.multiply(scaling.currency, b)})
        value = value if isinstance(objective, cp.Maximize) else -value  # the solver sees a maximisation
        self._inverse = cp.Parameter(nonneg=True, value=1.0)
        # a product of parameters would be compiled anew at each solve
        self._fixed = bool(objective.parameters()) or objective.args[0].is_constant()
        seen = cp.Maximize(value if self._fixed else self._inverse * value)
        ties = [*self._ties, *([self._tie] if in_copies[1] else [])]
        self._sibling = cp.Problem(seen, [*(self._to_solver_units(one) for one in constraints), *ties])
        self._refined: list[Any] | None = None

    def _to_solver_units(self, constraint: cp.Constraint | bool) -> cp.Constraint | bool:
        """Return a constraint as the solver sees it.

        Copies keep the id, by which duals are found.
        """
        scaling = self._scaling
        if id(constraint) in scaling.rows:
            return scaling.rows[id(constraint)][0]
        if not isinstance(constraint, cp.Constraint):
            return constraint
        divisor = self._divisors[id(constraint)] = _size(constraint, scaling)
        q, b = self.copies if id(constraint) in self._in_copies else (scaling.acceptance, scaling.unitless_spend)
        copy = constraint.tree_copy({id(scaling.spend): cp.multiply(scaling.currency, b), id(scaling.acceptance): q})
        if not all(argument.is_affine() for argument in copy.args):
            typical = cp.Constant(_typical(q.size))
            words = " ".join(str(constraint).split())
            copy = copy.copy([moderate(argument, {id(q): typical, id(b): typical}, words) for argument in copy.args])
        return copy if divisor == 1.0 else copy.copy([argument / divisor for argument in copy.args])

    def solve(self, *args: Any, **options: Any) -> Any:
        """Solve, with the arguments and errors of `cvxpy.Problem.solve`.

        Gives the value in the user's units.
        """
        self._set_unit(self._scaling.refresh())
        if self._scaling.pieces:
            if args:
                raise InputError("program: solve", "takes the solver by name", remedy='write solve(solver="CLARABEL")')
            raw, *self._refined = refine(self._sibling, self._scaling.pieces, self._scaling.target_gap, options)
            self.unpack(self._in_the_users_units(raw))
        else:
            self._sibling.solve(*args, **options)
            self.unpack(self._in_the_users_units(self._sibling.solution))
        return self.value

    def _set_unit(self, even: float) -> None:
        """Divide the objective by its size where all acceptances are the same."""
        if not self._fixed:
            q, b = np.full(self._scaling.acceptance.size, even), even * self._scaling.currency
            point = {id(self._scaling.acceptance): cp.Constant(q), id(self._scaling.spend): cp.Constant(b)}
            size = abs(float(self.objective.args[0].tree_copy(point).value))
            self._inverse.value = 2.0 / power_of_two(size)

    @property
    def objective_unit(self) -> float:
        """What the objective was divided by in the last solve."""
        return 1.0 / float(self._inverse.value)

    def normal(self) -> tuple[Floats, Floats]:
        """Return what the constraints in copies took at the last solve.

        Of one more unit of each acceptance, and of spend; shape (n,) each, in units of the
        objective per unit: together they are normal to what these constraints allow. 0 without any.
        """
        if not self._ties:
            return np.zeros(self._scaling.currency.size), np.zeros(self._scaling.currency.size)
        of_acceptance, of_spend = (-self.objective_unit * np.asarray(tie.dual_value) for tie in self._ties)
        return of_acceptance, of_spend / self._scaling.currency

    def supergradient(self) -> Floats:
        """Return what one more unit of each acceptance added at the last solve.

        Of an objective in copies, in the direction of maximising; shape (n,).
        """
        return self.objective_unit * np.asarray(self._tie.dual_value, dtype=np.float64)

    @property
    def currency(self) -> Floats:
        """The solver's units of spend, in the user's; shape (n,)."""
        return self._scaling.currency

    @property
    def refinement(self) -> Refinement | None:
        """How the last solve refined straight pieces.

        None before, and where all forms are exact.
        """
        return None if self._refined is None else self._refined[1]

    def alone(self, constraints: Sequence[cp.Constraint]) -> cp.Problem:
        """Return the problem to satisfy some of its constraints alone; made once."""
        key = tuple(id(constraint) for constraint in constraints)
        if key not in self._alone:
            both = cp.Minimize(sum(np.zeros(one.size) @ one for one in self.copies))  # so that none is left out
            self._alone[key] = cp.Problem(both, [self._to_solver_units(constraint) for constraint in constraints])
        return self._alone[key]

    def size_of(self, constraint: cp.Constraint) -> float:
        """Return the size of an added constraint's largest entry, else 1.

        Where acceptance and spend are of order 1 in their units.
        """
        return self._divisors.get(id(constraint), 1.0)

    @property
    def solver_stats(self) -> Any:
        """What the solver reports of its work."""
        return self._sibling.solver_stats if self._refined is None else self._refined[0]

    def _in_the_users_units(self, raw: RawSolution) -> RawSolution:
        scaling, unit = self._scaling, self.objective_unit
        # of the answer that is taken, which need not be that of the last solve
        for constraint in (*self._ties, self._tie):
            if constraint.id in raw.dual_vars:
                constraint.save_dual_value(raw.dual_vars[constraint.id])
        primal = dict(raw.primal_vars)
        if scaling.unitless_spend.id in primal:
            primal[scaling.spend.id] = scaling.currency * primal[scaling.unitless_spend.id]
        dual: dict[int, Any] = {}
        for constraint in self.constraints:
            row = scaling.rows.get(id(constraint))
            key = constraint.id if row is None else row[0].id
            if key in raw.dual_vars:
                divisor = self._divisors.get(id(constraint), 1.0) if row is None else scaling.unit_of(constraint)
                dual[constraint.id] = _times(raw.dual_vars[key], unit / divisor)
        value = raw.opt_val * (unit if isinstance(self.objective, cp.Maximize) else -unit)
        return RawSolution(raw.status, value, primal, dual, raw.attr)


def _size(constraint: cp.Constraint, scaling: Scaling) -> float:
    """Return the power of two next to a constraint's largest entry.

    Where acceptance and spend are of order 1 in their units.

    Cones stay the same when all that stands in them is divided by one number, so this changes how a
    constraint is seen, not what it says. 1 where the size cannot be told, as with variables or
    parameters that have no value.
    """
    if not isinstance(constraint, _SCALABLE):
        return 1.0
    typical = _typical(scaling.currency.size)
    point = {id(scaling.spend): cp.Constant(scaling.currency * typical), id(scaling.acceptance): cp.Constant(typical)}
    with np.errstate(over="ignore", invalid="ignore"):
        values = [argument.tree_copy(point).value for argument in constraint.args]
    sizes = [float(np.max(np.abs(dense(value)), initial=0.0)) for value in values if value is not None]
    largest = max(sizes, default=0.0)
    if largest == np.inf and not all(argument.is_affine() for argument in constraint.args):
        return float(np.finfo(float).max)  # beyond the doubles
    return power_of_two(largest)


def _typical(n: int) -> Floats:
    """Return numbers from 1/2 to 1 of which no two cancel, shape (n,)."""
    return np.asarray(0.5 + 0.5 * np.modf(_GOLDEN_RATIO * np.arange(1, n + 1))[0])


def _times(value: Any, factor: float | Floats) -> Any:
    if isinstance(value, (list, tuple)):
        return [_times(part, factor) for part in value]
    return np.asarray(value) * factor
