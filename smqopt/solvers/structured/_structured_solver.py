"""The route "structured".

A search on the prices of the budget and of all linear constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.market import Market, Objective, Solution
from smqopt.numeric import POSTED_GAP
from smqopt.solvers._abstract_solver import AbstractSolver

if TYPE_CHECKING:
    from smqopt.program import Program
    from smqopt.solvers._abstract_solver import Problem


@final
class StructuredSolver(AbstractSolver):
    """The dual of OP2 with linear side constraints, which falls apart into owners.

    Options are those of `solve_statement`, whose search for one posted price each may end at `gap`.
    """

    name: ClassVar[str] = "structured"
    options: ClassVar[frozenset[str] | None] = frozenset({"lotteries", "gap"})

    def __init__(
        self,
        *,
        lotteries: bool = True,
        gap: float = POSTED_GAP.value,
        start: ArrayLike | None = None,
        with_conflict: bool = True,
    ) -> None:
        if not isinstance(gap, (int, float)) or not 0 <= gap < 1:
            raise InputError("solve: argument 'gap'", "must lie in [0, 1)", value=gap, remedy="use, say, 1e-4")
        known = None if start is None else np.asarray(start, dtype=np.float64)
        self._posting: dict[str, Any] = {"lotteries": lotteries, "gap": float(gap)}
        self._options = {**self._posting, "start": known, "with_conflict": with_conflict}

    def without_conflict(self) -> StructuredSolver:
        """Return the same, but that it looks for no conflict, and lets no limit give way."""
        return StructuredSolver(**{**self._options, "with_conflict": False})

    def solve(self, statement: Problem, budget: float, objective: Objective) -> Solution:
        """Solve a statement."""
        from smqopt.market import state  # noqa: PLC0415 -- loads SciPy's sparse matrices
        from smqopt.solvers.structured._structured_route import solve_statement  # noqa: PLC0415

        form = state(statement, ()) if isinstance(statement, Market) else statement
        return solve_statement(form, budget, objective=objective, **self._options)

    def solve_program(self, program: Program) -> Solution:
        """Solve a program to which linear constraints were added."""
        from smqopt.solvers.structured._from_program import solve_linear  # noqa: PLC0415

        added = None if program.objective_record is None else program.linear_constraints()
        if added is None:
            raise InputError(
                "solve: argument 'solver'",
                "takes programs with an objective record, to which linear constraints in acceptance and spend were added, and from which nothing was taken",
                value=self.name,
                remedy='use solver="conic"',
            )
        return solve_linear(program, added, **self._posting)
