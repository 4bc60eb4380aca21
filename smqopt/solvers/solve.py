"""The front door of the solvers."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from smqopt.errors import InputError, nearest
from smqopt.program.market import Market
from smqopt.program.solution import Solution
from smqopt.solvers.dual import solve_market

if TYPE_CHECKING:
    from smqopt.program.program import Program

__all__ = ["SOLVERS", "solve"]

SOLVERS = ("dual", "conic")


def solve(
    problem: Market | Program, budget: float | None = None, *, solver: str | None = None, **options: Any
) -> Solution:
    """Solve a procurement program.

    Parameters
    ----------
    problem
        A market, or a `Program` (which carries its own budget and may hold further constraints).
    budget
        B ≥ 0, in currency; with a market only.
    solver
        "dual": the price search (default for a market). "conic": through cvxpy (always for a `Program`).
    **options
        `lotteries=False` forbids lotteries on the dual route (default: owners on a flat piece of an ironed cost curve draw
        between two thresholds); what that costs is the certificate's `privacy_forgone`. All else is passed on to cvxpy by the conic route.

    Returns
    -------
    Solution
        Thresholds and what the solver says of them; `smq.verify` judges.

    Raises
    ------
    InputError
        If an argument is missing, unknown, or of the wrong kind.
    SolverError
        If the conic solver does not report an optimum.

    Examples
    --------
    >>> import smqopt as smq
    >>> solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    >>> print(solution.status)
    the budget is spent, and its price is positive
    >>> solution.thresholds.round(6).tolist()
    [0.124515, 0.311286, 0.622573]
    """
    if solver is not None and solver not in SOLVERS:
        raise InputError("solve: argument 'solver'", "is unknown", value=solver, remedy=nearest(solver, SOLVERS))
    if isinstance(problem, Market):
        if budget is None:
            raise InputError("solve: argument 'budget'", "is missing", remedy="give the budget after the market")
        if solver == "conic":
            return _conic().solve_market(problem, budget, **options)  # type: ignore[no-any-return]
        unknown = sorted(set(options) - {"lotteries"})
        if unknown:
            raise InputError(
                f"solve: argument {unknown[0]!r}",
                "is not known to the dual solver",
                remedy='drop it, or use solver="conic"',
            )
        return solve_market(problem, budget, **options)
    if type(problem).__name__ != "Program":
        raise InputError(
            "solve: argument 'problem'",
            "must be a Market or a Program",
            value=type(problem).__name__,
            remedy="make a Market first",
        )
    if budget is not None:
        raise InputError(
            "solve: argument 'budget'", "belongs to the program already", remedy="set program.budget.value instead"
        )
    if solver == "dual":
        raise InputError(
            "solve: argument 'solver'", "a Program goes through cvxpy", value="dual", remedy='use solver="conic"'
        )
    return _conic().solve_program(problem, **options)  # type: ignore[no-any-return]


def _conic() -> Any:
    return importlib.import_module("smqopt.solvers.conic")
