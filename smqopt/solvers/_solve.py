"""The front door of the solvers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from smqopt.errors import InputError, SolverError
from smqopt.market import (
    BEND,
    LARGEST_BUDGET,
    ConstraintRecord,
    Market,
    MeanSquaredError,
    Objective,
    PurchasedPrivacy,
    Solution,
    Status,
    WorstCaseError,
    checked_budget,
    few_rows,
    needs_expansion,
)
from smqopt.numeric import SIDE_GAP, FrozenDict, OutOfWorkError, work_limit
from smqopt.solvers._abstract_solver import AbstractSolver
from smqopt.solvers._expanded import refuse_route, solve_expansion
from smqopt.solvers._least_error import solve_for_error
from smqopt.solvers._solver_registry import chosen_solver
from smqopt.solvers._worst_case import solve_worst_case

if TYPE_CHECKING:
    from smqopt.program import Program
    from smqopt.solvers._abstract_solver import Problem


def solve(
    problem: Market | Program,
    budget: float | None = None,
    *,
    solver: str | AbstractSolver | None = None,
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
        cvxpy. Or an `AbstractSolver`, made with its options.
    objective
        An objective record, with a market only; purchased privacy by default. Or a function that
        returns a cvxpy objective, concave in acceptance, for the `Program` it is called with, as in
        `lambda program: cp.Maximize(cp.sum(cp.sqrt(program.acceptance)))`; it goes to the conic
        solver.
    constraints
        Constraint records, with a market only; a `Program` holds its own.
    **options
        `lotteries=False` forbids lotteries on the dual and the structured route (default: owners on
        a flat piece of an ironed cost curve draw between two thresholds); what that costs is the
        certificate's `privacy_forgone`. A mixed-integer program then posts one price to each owner
        who would draw, to within `gap` (default 1e-4) of the best; `solver="dual"` posts each the
        nearer of her two thresholds that the budget affords. All else is passed on to cvxpy by the
        conic route.

    Returns
    -------
    Solution
        Thresholds and what the solver says of them; `smq.verify` checks them. Where no thresholds
        satisfy all constraints its status is INFEASIBLE, and its `conflict` names constraints that
        cannot hold together.

    Raises
    ------
    InputError
        If an argument is missing, unknown, or of the wrong kind.
    SolverError
        If the conic solver does not report an optimum, or the structured one does not come near
        enough to its bound; or if the laws are so hard to evaluate that the limit of work is met.

    Examples
    --------
    >>> import smqopt as smq
    >>> solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    >>> print(solution.status)
    the budget is spent, and its price is positive
    >>> solution.thresholds.round(6).tolist()
    [0.124515, 0.311286, 0.622573]
    """
    if isinstance(problem, Market):
        if budget is None:
            raise InputError("solve: argument 'budget'", "is missing", remedy="give the budget after the market")
        amount = checked_budget(budget)
        try:
            with work_limit(problem.n) as allowance:
                return _solve_market(problem, amount, solver, objective, constraints, options)
        except OutOfWorkError:
            hard = f"takes {allowance.words}: the {problem.valuation.name} law is hard to evaluate"
            raise SolverError("solve", hard, remedy="give a law with a formula, or fewer pieces") from None
    if type(problem).__name__ != "Program":
        raise InputError(
            "solve: argument 'problem'",
            "must be a Market or a Program",
            value=type(problem).__name__,
            remedy="make a Market first",
        )
    for name, given, remedy in (
        ("budget", budget is not None, "set program.budget.value instead"),
        ("objective", objective is not None, "give it to Program(..., objective=...)"),
        ("constraints", bool(constraints), "give them to Program(..., constraints=[...])"),
    ):
        if given:
            raise InputError(f"solve: argument {name!r}", "belongs to the program", remedy=remedy)
    route = chosen_solver(solver or _route_of(problem, options), options)
    aim = problem.objective_record
    if aim is not None and needs_expansion(problem.market, aim, problem.records):
        refuse_route(problem.market, solver, route.name, options)
        return _solve_program_as_another(problem, route)
    return (
        _solve_program_for_error(problem, aim, route)
        if isinstance(aim, MeanSquaredError)
        else route.solve_program(problem)
    )


def _solve_program_as_another(program: Program, route: AbstractSolver) -> Solution:
    market, records, aim = program.as_records()
    solution = solve_expansion(market, program.current_budget(), records, aim, route)
    if solution.status in (Status.BINDING, Status.SLACK):
        program.acceptance.value, program.spend.value = solution.acceptance.copy(), solution.spend
        program.budget_constraint.save_dual_value(np.array(solution.budget_price))
    return solution


def _solve_program_for_error(program: Program, aim: MeanSquaredError, route: AbstractSolver) -> Solution:
    def solve_at(mu: float) -> Solution:
        program.objective = aim.with_half_planes(((mu, 0.0),))
        return route.solve_program(program)

    try:
        return solve_for_error(program.market, aim, solve_at)
    finally:
        program.objective = aim


def _route_of(program: Program, options: dict[str, Any]) -> str:
    """Take the structured route where all is linear, or the objective needs it."""
    if program.objective_record is not None and needs_expansion(
        program.market, program.objective_record, program.records
    ):
        return "structured"
    if not set(options) <= {"lotteries", "gap"} or not program.is_extended or program.objective_record is None:
        return "conic"
    return "conic" if program.linear_constraints() is None else "structured"


def _solve_market(
    market: Market,
    budget: float,
    solver: str | AbstractSolver | None,
    objective: Objective | Callable[[Program], Any] | None,
    constraints: Sequence[ConstraintRecord],
    options: dict[str, Any],
) -> Solution:
    aim = PurchasedPrivacy() if objective is None else objective
    in_cvxpy = callable(aim) and not isinstance(aim, type | Objective)
    if not in_cvxpy and not isinstance(aim, Objective):
        raise InputError(
            "solve: argument 'objective'",
            "must be an objective record, or a function that gives a cvxpy objective for a program",
            value=type(aim).__name__ if not isinstance(aim, type) else f"the class {aim.__name__}",
            remedy="give, say, smq.InverseProbabilityVariance(), or lambda program: cp.Maximize(...)",
        )
    if not in_cvxpy and isinstance(aim, Objective) and needs_expansion(market, aim, constraints):
        own = chosen_solver(solver or "structured", options)
        refuse_route(market, solver, own.name, options)
        return solve_expansion(market, budget, constraints, aim, own)
    if isinstance(aim, MeanSquaredError):

        def few_solved(mu: float) -> Solution:
            assert few is not None  # noqa: S101
            rows = aim.market_at(few.market, mu, BEND)
            return _solve_market(rows, budget * few.shares, solver, None, (), options)

        def solve_at(mu: float) -> Solution:
            return _solve_market(aim.market_at(market, mu), budget, solver, None, constraints, options)

        few = None if constraints or not 0 < budget <= LARGEST_BUDGET else few_rows(market)
        return solve_for_error(market, aim, solve_at, None if few is None else (few, few_solved))
    if isinstance(aim, WorstCaseError):
        if solver not in (None, "dual") or constraints or options:
            raise InputError(
                "solve: argument 'objective'",
                "draws prices at random, and takes neither constraints nor another solver",
                value=aim.kind,
                remedy="leave out solver, constraints and options, or use InverseProbabilityVariance",
            )
        return solve_worst_case(market, budget, aim)
    if solver is None and not constraints and isinstance(aim, Objective) and options.get("lotteries", True) is False:
        return _post_prices(market, budget, aim, options)
    route = chosen_solver(solver or ("conic" if in_cvxpy else "structured" if constraints else "dual"), options)
    if in_cvxpy and route.name != "conic":
        raise InputError(
            "solve: argument 'solver'",
            "does not take an objective in cvxpy",
            value=route.name,
            remedy='use solver="conic", or leave it out',
        )
    return route.solve(_form(market, constraints), budget, aim)  # type: ignore[arg-type]  # the conic route takes functions too


def _post_prices(market: Market, budget: float, aim: Objective, options: dict[str, Any]) -> Solution:
    """Post one price to each owner; by a mixed-integer program where few would draw.

    Its offers are taken where they are better than the price search's by more than rounding, so
    that nothing hangs on a solver's last bits.
    """
    from smqopt.solvers.structured._posted_prices import FEW_POSTED  # noqa: PLC0415 -- loads HiGHS

    by_program, by_price = chosen_solver("structured", options), chosen_solver("dual", {"lotteries": False})
    free = chosen_solver("dual", {}).solve(market, budget, aim)
    if free.lottery is None:
        return free
    if len(free.lottery) > FEW_POSTED:
        return _with_bracket(by_price.solve(market, budget, aim), free)
    answers: list[Solution] = []
    for route in (by_program, by_price):
        try:
            answers.append(route.solve(market, budget, aim))
        except SolverError as error:  # no prices among those tried fit
            failure = error
    if not answers:
        raise failure
    best, posted = answers[0], answers[-1]
    ahead = (posted.objective_value - best.objective_value) * (-1 if aim.smallest else 1)
    return _with_bracket(posted if ahead > SIDE_GAP.value * abs(best.objective_value) else best, free)


def _with_bracket(posted: Solution, free: Solution) -> Solution:
    """Let an answer say how far it is from the optimum of lotteries, which bounds it."""
    values = abs(posted.objective_value), abs(free.objective_value)
    apart = abs(posted.objective_value - free.objective_value) / max(*values, np.finfo(float).tiny)
    if not math.isfinite(apart):  # no posted prices make an estimate
        return posted
    return dataclasses.replace(posted, details=FrozenDict({**posted.details, "posted_gap": apart}))


def _form(market: Market, constraints: Sequence[ConstraintRecord]) -> Problem:
    if not constraints:
        return market
    from smqopt.market import state  # noqa: PLC0415 -- loads SciPy's sparse matrices

    return state(market, constraints)
