"""What every route from a statement to thresholds is.

Made with its options, asked for one solution at a time.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from smqopt.market import Market, Objective, Solution, Statement
    from smqopt.program import Program

    Problem = Market | Statement
    """OP2 of a market as it stands, or with constraints in one form."""


class AbstractSolver(abc.ABC):
    """A route; its options belong to the instance."""

    name: ClassVar[str]
    """What it is called at the door, and in a solution."""
    options: ClassVar[frozenset[str] | None]
    """What it may be made with from the door; None where cvxpy takes any."""

    @abc.abstractmethod
    def solve(self, statement: Problem, budget: float, objective: Objective) -> Solution:
        """Solve a statement at a budget.

        Parameters
        ----------
        statement
            A market, or what `state` makes of one and its constraints.
        budget
            B ≥ 0, in currency.
        objective
            An objective record.

        Raises
        ------
        InputError
            If the route does not take such a statement or objective.
        SolverError
            If it does not arrive.
        """

    @abc.abstractmethod
    def solve_program(self, program: Program) -> Solution:
        """Solve a program, which has its own budget, objective and constraints.

        Raises
        ------
        InputError
            If the route does not take what was added.
        SolverError
            If it does not arrive.
        """
