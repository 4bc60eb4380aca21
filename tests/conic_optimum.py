"""Optima of convex programs by Clarabel, or else SCS, for tests that need them to many digits."""

import itertools
import warnings

import cvxpy as cp

_TRIES = (
    {},
    {"max_step_fraction": 0.9},
    {"max_step_fraction": 0.8, "equilibrate_enable": False},
    {"max_step_fraction": 0.7, "static_regularization_constant": 1e-10, "max_iter": 500},
    {"max_step_fraction": 0.5, "static_regularization_constant": 1e-12, "max_iter": 2000},
)
"""Settings, the next ones where Clarabel fails or calls its answer inaccurate."""


def optimum(problem, tolerance):
    """Return the optimum; None where the program is infeasible.

    The tolerance is widened, to 1e-7 at most, only after all settings have failed at it.
    """
    objective = problem.objective
    for near, scale, settings in itertools.product((tolerance, 1e-8, 1e-7), (1.0, 0.01), _TRIES):
        problem = cp.Problem(type(objective)(scale * objective.args[0]), problem.constraints)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # says that it is inaccurate
            try:
                problem.solve(solver=cp.CLARABEL, tol_gap_abs=near, tol_gap_rel=near, tol_feas=near, **settings)
            except cp.error.SolverError:
                continue
        if problem.status == cp.OPTIMAL:
            return problem.value / scale
        if problem.status == cp.INFEASIBLE:
            return None
    problem.solve(solver=cp.SCS, eps=1e-10, max_iters=1_000_000)
    if problem.status == cp.OPTIMAL:
        return problem.value / scale
    raise AssertionError(f"no optimum: {problem.status}")
