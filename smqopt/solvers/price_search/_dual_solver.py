"""The route "dual": one equation in λ, for markets without constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn, final

from smqopt.errors import InputError
from smqopt.market import Market, Objective, Solution
from smqopt.solvers._abstract_solver import AbstractSolver
from smqopt.solvers.price_search._concave import solve_concave

if TYPE_CHECKING:
    from smqopt.program import Program
    from smqopt.solvers._abstract_solver import Problem


@final
class DualSolver(AbstractSolver):
    """The price search."""

    name: ClassVar[str] = "dual"
    options: ClassVar[frozenset[str] | None] = frozenset({"lotteries"})

    def __init__(self, *, lotteries: bool = True) -> None:
        self._lotteries = lotteries

    def solve(self, statement: Problem, budget: float, objective: Objective) -> Solution:
        """Solve OP2 as it stands."""
        if not isinstance(statement, Market):
            raise InputError(
                "solve: argument 'solver'",
                "does not take constraints",
                value=self.name,
                remedy='use solver="structured"',
            )
        return solve_concave(statement, budget, objective, lotteries=self._lotteries)

    def solve_program(self, program: Program) -> NoReturn:  # noqa: ARG002 -- whatever it is
        """Refuse a program."""
        raise InputError(
            "solve: argument 'solver'",
            "takes markets without constraints",
            value=self.name,
            remedy='use solver="conic", or leave it out',
        )
