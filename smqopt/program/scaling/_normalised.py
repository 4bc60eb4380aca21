"""A cvxpy problem in the user's units, solved where all numbers are near 1.

Solvers stop on absolute residuals, so valuations of 1e-8 or 1e8 give wrong answers without a
warning. The solver therefore sees a sibling of the problem: spend_i is replaced by unit_i times a
variable of order 1, the statement's own rows are divided by their units, added rows by their size
at a typical point, and the objective by what the budget is known to buy. Values and duals come back
in the user's units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.reductions.solution import Solution as RawSolution

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.program.cones._pieces import Pieces
from smqopt.program.dcp._affine import dense
from smqopt.program.scaling._linking_copies import Tied
from smqopt.program.scaling._moderate_atoms import moderate
from smqopt.program.scaling._refinement import Refinement, refine

_SCALABLE = (cp.constraints.Inequality, cp.constraints.Equality, cp.SOC)
_GOLDEN_RATIO = 0.5 * (1.0 + math.sqrt(5.0))


@dataclass(frozen=True)
class ScaledRow:
    """A constraint of the statement as the solver sees it."""

    constraint: cp.Constraint
    unit: float | Floats | Callable[[], float]
    """The factor by which the statement's constraint is larger, or what says it when asked."""

    def divisor(self) -> float | Floats:
        """Return the factor now."""
        return self.unit() if callable(self.unit) else self.unit


@dataclass(frozen=True)
class Scaling:
    """How the statement's own parts are to be seen by the solver."""

    spend: cp.Variable
    """In currency; shape (n,)."""
    currency: Floats
    """Units of spend; shape (n,)."""
    unitless_spend: cp.Variable
    """spend/currency; shape (n,)."""
    acceptance: cp.Variable
    """Shape (n,)."""
    objective: cp.Maximize
    """The objective divided by `objective_unit()`: a maximisation."""
    objective_unit: Callable[[], float]
    """Negative where the user's objective is minimised."""
    rows: Mapping[int, ScaledRow]
    """The id of a constraint of the statement → its row; others are rewritten for `unitless_spend`.
    """
    refresh: Callable[[], None]
    """Sets the parameters of the above from the user's parameters; called before each solve."""
    pieces: tuple[Pieces, ...] = ()
    """Straight pieces in place of cost curves, to be refined; none where all forms are exact."""
    target_gap: float = 0.0
    """Relative gap to which they are refined."""
    beside: Sequence[cp.Constraint] = ()
    """Constraints that the solver alone sees."""
    tied: Tied | None = None
    """Which constraints are stated in copies; their ties stand in `beside`."""


class NormalisedProblem(cp.Problem):  # type: ignore[misc]
    """A problem that is solved through its normalised sibling.

    All else is as for any `cvxpy.Problem`.

    Parameters
    ----------
    objective, constraints
        The problem, in the user's units.
    scaling
        How to normalise it.

    Raises
    ------
    InputError
        If an added constraint has a nonlinear term of a size far from 1.
    """

    def __init__(
        self, objective: cp.Maximize | cp.Minimize, constraints: Sequence[cp.Constraint | bool], scaling: Scaling
    ) -> None:
        super().__init__(objective, list(constraints))
        self._scaling = scaling
        self._divisors: dict[int, float] = {}
        self._alone: dict[tuple[int, ...], cp.Problem] = {}
        self.tied = scaling.tied
        self._sibling = cp.Problem(
            scaling.objective, [*(self._to_solver_units(constraint) for constraint in constraints), *scaling.beside]
        )
        self._refined: tuple[Any, Refinement] | None = None

    def _to_solver_units(self, constraint: cp.Constraint | bool) -> cp.Constraint | bool:
        """Return a constraint as the solver sees it.

        Copies keep the id, by which duals are found.
        """
        scaling = self._scaling
        if id(constraint) in scaling.rows:
            return scaling.rows[id(constraint)].constraint
        if not isinstance(constraint, cp.Constraint):
            return constraint
        divisor = self._divisors[id(constraint)] = _size(constraint, scaling)
        tied = scaling.tied if scaling.tied is not None and id(constraint) in scaling.tied.constraints else None
        affine = all(argument.is_affine() for argument in constraint.args)
        if tied is None and divisor == 1.0 and affine and all(x is not scaling.spend for x in constraint.variables()):
            return constraint
        unitless = scaling.unitless_spend if tied is None else tied.unitless_spend
        replaced = {id(scaling.spend): cp.multiply(scaling.currency, unitless)}
        if tied is not None:
            replaced[id(scaling.acceptance)] = tied.acceptance
        copy = constraint.tree_copy(replaced)
        if not all(argument.is_affine() for argument in copy.args):
            acceptance = scaling.acceptance if tied is None else tied.acceptance
            typical = cp.Constant(_typical(unitless.size))
            words = " ".join(str(constraint).split())
            point = {id(acceptance): typical, id(unitless): typical}
            copy = copy.copy([moderate(argument, point, words) for argument in copy.args])
        return copy if divisor == 1.0 else copy.copy([argument / divisor for argument in copy.args])

    def solve(self, *args: Any, **options: Any) -> Any:
        """Solve, with the arguments of `cvxpy.Problem.solve`.

        Gives the value in the user's units.

        Raises
        ------
        cvxpy.error.SolverError
            If the solver fails.
        """
        self._scaling.refresh()
        if self._scaling.pieces:
            if args:
                raise InputError("program: solve", "takes the solver by name", remedy='write solve(solver="CLARABEL")')
            refined = refine(self._sibling, self._scaling.pieces, self._scaling.target_gap, options)
            self._refined = refined.stats, refined.refinement
            self.unpack(self._in_the_users_units(refined.raw))
        else:
            self._sibling.solve(*args, **options)
            self.unpack(self._in_the_users_units(self._sibling.solution))
        return self.value

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
            self._alone[key] = cp.Problem(
                cp.Minimize(0), [self._to_solver_units(constraint) for constraint in constraints]
            )
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
        scaling, unit = self._scaling, self._scaling.objective_unit()
        for constraint in scaling.beside:  # of the answer that is taken, which need not be that of the last solve
            if constraint.id in raw.dual_vars:
                constraint.save_dual_value(raw.dual_vars[constraint.id])
        primal = dict(raw.primal_vars)
        if scaling.unitless_spend.id in primal:
            primal[scaling.spend.id] = scaling.currency * primal[scaling.unitless_spend.id]
        dual: dict[int, Any] = {}
        for constraint in self.constraints:
            row = scaling.rows.get(id(constraint))
            key = constraint.id if row is None else row.constraint.id
            if key in raw.dual_vars:
                divisor = self._divisors.get(id(constraint), 1.0) if row is None else row.divisor()
                dual[constraint.id] = _times(raw.dual_vars[key], abs(unit) / divisor)
        return RawSolution(raw.status, raw.opt_val * unit, primal, dual, raw.attr)


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
    return float(np.ldexp(1.0, np.frexp(largest)[1])) if 0.0 < largest < np.inf else 1.0


def _typical(n: int) -> Floats:
    """Return numbers from 1/2 to 1 of which no two cancel, shape (n,)."""
    return np.asarray(0.5 + 0.5 * np.modf(_GOLDEN_RATIO * np.arange(1, n + 1))[0])


def _times(value: Any, factor: float | Floats) -> Any:
    if isinstance(value, (list, tuple)):
        return [_times(part, factor) for part in value]
    return np.asarray(value) * factor
