"""The front door of the solvers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from smqopt.errors import InputError, nearest
from smqopt.market import ConstraintRecord, Market, Objective, PurchasedPrivacy, Solution, checked_budget
from smqopt.solvers.price_search._concave import solve_concave
from smqopt.solvers.price_search._dual import solve_market

if TYPE_CHECKING:
    from smqopt.program import Program

SOLVERS = ("dual", "conic", "structured")


def solve(
    problem: Market | Program,
    budget: float | None = None,
    *,
    solver: str | None = None,
    objective: Objective | Callable[[Program], Any] | None = None,
    constraints: Sequence[ConstraintRecord] = (),
    **options: Any,
) -> Solution:
    """Solve a procurement program.

    Parameters
    ----------
    problem
        A market, or a `Program` (which carries its own budget and may hold further constraints).
    budget
        B ≥ 0, in currency; with a market only.
    solver
        "dual": the price search (default for a market). "structured": a search on the prices of the
        budget and of all linear constraints (default where there are constraints). "conic": through
        cvxpy.
    objective
        An objective record, with a market only; purchased privacy by default. Or a function that
        gives a cvxpy objective, concave in acceptance, for the `Program` it is called with, as in
        `lambda program: cp.Maximize(cp.sum(cp.sqrt(program.acceptance)))`; it goes to the conic
        solver.
    constraints
        Constraint records, with a market only; a `Program` holds its own.
    **options
        `lotteries=False` forbids lotteries on the dual and the structured route (default: owners on
        a flat piece of an ironed cost curve draw between two thresholds); what that costs is the
        certificate's `privacy_forgone`. All else is passed on to cvxpy by the conic route.

    Returns
    -------
    Solution
        Thresholds and what the solver says of them; `smq.verify` judges. Where no thresholds
        satisfy all constraints its status is INFEASIBLE, and its `conflict` names constraints that
        cannot hold together.

    Raises
    ------
    InputError
        If an argument is missing, unknown, or of the wrong kind.
    SolverError
        If the conic solver does not report an optimum, or the structured one does not come near
        enough to its bound.

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
        return _solve_market(problem, budget, solver, objective, constraints, options)
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
    if objective is not None:
        raise InputError(
            "solve: argument 'objective'", "belongs to the program", remedy="give it to Program(..., objective=...)"
        )
    if constraints:
        raise InputError(
            "solve: argument 'constraints'",
            "belongs to the program",
            remedy="give them to Program(..., constraints=[...])",
        )
    if solver == "dual":
        raise InputError(
            "solve: argument 'solver'",
            "takes markets without constraints",
            value="dual",
            remedy='use solver="conic", or leave it out',
        )
    return _solve_program(problem, solver, options)


def _solve_program(program: Program, solver: str | None, options: dict[str, Any]) -> Solution:
    """Take the structured route where all that was added is linear, and nothing was asked of cvxpy."""
    of_structured = set(options) <= {"lotteries"}
    if solver == "structured" or (solver is None and of_structured and program.is_extended):
        added = None if program.objective_record is None else program.linear_constraints()
        if added is not None:
            route = importlib.import_module("smqopt.solvers.structured._from_program")
            solution: Solution = route.solve_linear(program, added, **_known(options, "structured"))
            return solution
        if solver == "structured":
            raise InputError(
                "solve: argument 'solver'",
                "takes programs with an objective record, to which linear constraints in acceptance and spend were added, and from which nothing was taken",
                value="structured",
                remedy='use solver="conic"',
            )
    found: Solution = _conic().solve_program(program, **options)
    return found


def _known(options: dict[str, Any], route: str) -> dict[str, Any]:
    unknown = sorted(set(options) - {"lotteries"})
    if unknown:
        raise InputError(
            f"solve: argument {unknown[0]!r}",
            f"is not known to the {route} solver",
            remedy='drop it, or use solver="conic"',
        )
    return options


def _solve_market(
    market: Market,
    budget: float | None,
    solver: str | None,
    objective: Objective | Callable[[Program], Any] | None,
    constraints: Sequence[ConstraintRecord],
    options: dict[str, Any],
) -> Solution:
    if budget is None:
        raise InputError("solve: argument 'budget'", "is missing", remedy="give the budget after the market")
    aim = _known_objective(objective)
    route = solver or ("conic" if aim is None else "structured" if constraints else "dual")
    if route == "conic":
        stated = {"constraints": constraints, **options, **({} if objective is None else {"objective": objective})}
        of_cvxpy: Solution = _conic().solve_market(market, budget, **stated)
        return of_cvxpy
    if aim is None:
        raise InputError(
            "solve: argument 'solver'",
            "does not take an objective in cvxpy",
            value=route,
            remedy='use solver="conic", or leave it out',
        )
    if route == "dual" and constraints:
        raise InputError(
            "solve: argument 'solver'", "does not take constraints", value="dual", remedy='use solver="structured"'
        )
    _known(options, route)
    if route == "dual":
        plain = isinstance(aim, PurchasedPrivacy)
        return solve_market(market, budget, **options) if plain else solve_concave(market, budget, aim, **options)
    pooled = importlib.import_module("smqopt.market.pooling._pooled").pool(market, constraints)
    if pooled is not None:
        return _solve_pooled(pooled, checked_budget(budget), aim, options)
    options = {"objective": aim, **options}
    statement = importlib.import_module("smqopt.market.statement._statement").state(market, constraints)
    solved: Solution = importlib.import_module("smqopt.solvers.structured._structured_route").solve_statement(
        statement, checked_budget(budget), **options
    )
    return solved


def _solve_pooled(pooled: Any, budget: float, aim: Objective, options: dict[str, Any]) -> Solution:
    if not isinstance(aim, PurchasedPrivacy):
        raise InputError(
            "solve: argument 'objective'",
            "must be purchased privacy where owners of different laws share a price",
            value=aim.words,
            remedy="leave it out, split the groups, or give their owners one law, say a Mixture",
        )
    route = importlib.import_module("smqopt.solvers.structured._pooled_search")
    solved: Solution = route.solve_pooled(pooled, budget, **options)
    return solved


def _known_objective(objective: object) -> Objective | None:
    """Give the record of a separable objective; None where it is stated in cvxpy.

    Raises
    ------
    InputError
        If it is neither.
    """
    if objective is None:
        return PurchasedPrivacy()
    if isinstance(objective, Objective):
        return objective
    if callable(objective) and not isinstance(objective, type):
        return None
    raise InputError(
        "solve: argument 'objective'",
        "must be an objective record, or a function that gives a cvxpy objective for a program",
        value=type(objective).__name__ if not isinstance(objective, type) else f"the class {objective.__name__}",
        remedy="give, say, smq.InverseProbabilityVariance(), or lambda program: cp.Maximize(...)",
    )


def _conic() -> Any:
    return importlib.import_module("smqopt.solvers.conic._conic_route")
