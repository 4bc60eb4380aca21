"""The route "conic": the program in cvxpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, final

from smqopt.market import Market, Objective, Solution
from smqopt.solvers._abstract_solver import AbstractSolver

if TYPE_CHECKING:
    from smqopt.program import Program
    from smqopt.solvers._abstract_solver import Problem


@final
class ConicSolver(AbstractSolver):
    """Through cvxpy, by Clarabel unless told otherwise.

    It takes the `target_gap` of `Program`, `accept_inaccurate`, and what `cvxpy.Problem.solve`
    takes.
    """

    name: ClassVar[str] = "conic"
    options: ClassVar[frozenset[str] | None] = None

    def __init__(self, *, target_gap: float | None = None, **options: Any) -> None:
        self._stating = {} if target_gap is None else {"target_gap": target_gap}
        self._options = options

    def solve(self, statement: Problem, budget: float, objective: Objective | Callable[[Program], Any]) -> Solution:
        """Solve a statement; the objective may be a function that states it in cvxpy."""
        from smqopt.program import Program  # noqa: PLC0415 -- loads cvxpy

        market = statement if isinstance(statement, Market) else statement.market
        records = () if isinstance(statement, Market) else statement.records
        asked: dict[str, Any] = {"objective": objective, "constraints": records, **self._stating}
        return self.solve_program(Program(market, budget, ironed=True, **asked))

    def solve_program(self, program: Program) -> Solution:
        """Solve a program as it stands."""
        from smqopt.solvers.conic._conic_route import solve_program  # noqa: PLC0415 -- loads cvxpy

        return solve_program(program, **self._options)
