"""One cvxpy problem, solved in a few attempts by one solver.

Anything but an optimum is an error.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from typing import Any

import cvxpy as cp

from smqopt.errors import SolverError
from smqopt.numeric import CONIC_LOOSE, CONIC_MIDDLE, CONIC_TIGHT
from smqopt.program import NormalisedProblem
from smqopt.solvers.conic._contained import contain


class Infeasible(Exception):  # noqa: N818 -- an outcome, not an error: it becomes a status
    """The solver proved that no point satisfies all constraints."""


_ATTEMPTS = tuple(itertools.product((CONIC_TIGHT, CONIC_MIDDLE, CONIC_LOOSE), (0.9, 0.8)))
"""Clarabel's tolerance and its share of the step to the boundary. On power and exponential cones it
stalls now and then, on other programs for other shares."""
_TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")


def solve_in_attempts(problem: cp.Problem, accept_inaccurate: bool, options: Mapping[str, Any]) -> dict[str, Any]:
    """Solve a problem, leave its answer in its variables, and say how it was met.

    An "optimal_inaccurate" of the last attempt is an answer if it is accepted; with a solver or
    tolerances among the options there is one attempt. Without an optimum an error names the last
    status.
    """
    attempts = _attempts(options)
    for last, attempt in enumerate(attempts, start=1 - len(attempts)):
        status = _status_after(problem, attempt)
        if status == cp.OPTIMAL or (last == 0 and status == cp.OPTIMAL_INACCURATE and accept_inaccurate):
            stats = problem.solver_stats
            return {
                "cvxpy_status": status,
                "cvxpy_solver": stats.solver_name,
                "iterations": stats.num_iters,
                **{name: attempt[name] for name in (*_TOLERANCES, "max_step_fraction") if name in attempt},
            }
        if status == cp.INFEASIBLE:
            raise Infeasible
    raise SolverError("conic solver", "must end with 'optimal'", value=status, remedy=_remedy(problem, status))


def _remedy(problem: cp.Problem, status: str) -> str:
    if status != cp.OPTIMAL_INACCURATE:
        return "scale or relax the added constraints"
    refinement = problem.refinement if isinstance(problem, NormalisedProblem) else None
    if refinement is not None and not refinement.reached:
        return (
            f"the bounds from both sides came within {refinement.gap:.1e}, not {refinement.target:.1e}, of each other: "
            "state a larger target_gap, or pass accept_inaccurate=True"
        )
    return "pass accept_inaccurate=True"


def _attempts(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the options of each attempt.

    The user's as they are, or with Clarabel's tolerances where the user sets none.
    """
    if options.get("solver", cp.CLARABEL) != cp.CLARABEL or any(name in options for name in _TOLERANCES):
        return [{"solver": cp.CLARABEL, **options}]
    return [
        {
            "solver": cp.CLARABEL,
            "warm_start": False,
            "max_step_fraction": step,
            **dict.fromkeys(_TOLERANCES, tolerance.value),
            **options,
        }
        for tolerance, step in _ATTEMPTS
    ]


def _status_after(problem: cp.Problem, options: Mapping[str, Any]) -> str:
    """Solve once and give cvxpy's status; a solver that fails gives its own words."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # it becomes an error or a record
        try:
            with contain():
                problem.solve(**options)
        except (cp.error.SolverError, SolverError) as error:
            return f"{cp.SOLVER_ERROR}: {error}"
    return str(problem.status)
