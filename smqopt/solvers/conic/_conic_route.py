"""The conic route: OP2, or a program that extends it, through cvxpy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from smqopt.errors import InputError
from smqopt.market import BUDGET_WORDS, InCvxpy, Offers, Solution, Status, offers_from_acceptance, state, status_of
from smqopt.numeric import BINDING_SHARE, BUDGET_MARGIN, Floats
from smqopt.program import LinearConstraint, Program, require_convex, shortened_text, words_of
from smqopt.solvers._result import deliver
from smqopt.solvers.conic._attempts import Infeasible, solve_in_attempts
from smqopt.solvers.conic._conflict import find_conflict
from smqopt.solvers.conic._refusals import (
    asks_for_spend,
    checked_acceptance,
    require_no_burnt_money,
    require_within_budget,
)
from smqopt.solvers.conic._supergradient import objective_at, recorded_objective
from smqopt.solvers.conic.cuts._under_cuts import buy_nothing, solve_under_cuts
from smqopt.solvers.structured._structured_route import solve_statement


def solve_program(program: Program, *, accept_inaccurate: bool = False, **options: Any) -> Solution:
    """Solve a program through cvxpy, by Clarabel unless told otherwise.

    Raw thresholds are F⁻¹ of the solver's acceptances, clipped to [0, 1]: expect about six digits.
    Where the program is OP2 as it stands and they spend a little more than the budget, all are
    lowered by that share, so that they can be certified. On a flat piece of an ironed cost curve
    they become lotteries between its two ends. An owner with ε_i = 0 has a tiny acceptance where
    the budget binds, and any that the budget allows where it is slack. The budget of an extended
    program binds where its price λ is more than `BINDING_SHARE` of purchased privacy per budget.

    The answer is polished from its multipliers, under rows that touch the constraints that are not
    linear (`solve_under_cuts`); `raw` of the solution and the variables of the program keep what
    the conic solver left. `details` tells its options and status, and of straight pieces the rounds
    and the gap between the bounds from both sides. Options are used as they are, once; else it is
    asked for less where it does not get there (`CONIC_TIGHT`, `CONIC_MIDDLE`, `CONIC_LOOSE`).
    Nothing falls back to another solver. A budget below a ten thousandth of the most that can be
    spent may be beyond a conic solver's accuracy; it is then refused, not overspent.

    Where no acceptances satisfy all constraints, `conflict` names some that cannot hold together.

    Budgets that are no finite number ≥ 0, constraints that could not be proved convex, or are met
    by burning money alone, and whatever but an optimum that keeps the program are refused.

    Examples
    --------
    >>> import smqopt as smq
    >>> program = smq.Program(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    >>> solve_program(program).thresholds.round(4).tolist()
    [0.1245, 0.3113, 0.6226]
    """
    if program.statement.blocks is not None:
        raise InputError(
            "conic solver",
            "states no program in which owners of different laws share a price, or more spend is asked for",
            value=", ".join(record.words for record in program.records),
            remedy='use solver="structured"',
        )
    budget = program.current_budget()
    for constraint in program.added:
        require_convex(constraint)
    linear, others = program.read()
    for one in linear:
        if any(row.asks_for_spend for row in one.rows):
            raise asks_for_spend(words_of(one.constraint))
    records = () if program.removed else (*program.records, *(record for one in linear for record in one.records))
    try:
        if budget == 0 and not program.removed:
            if not others and program.objective_record is not None:
                found = solve_statement(state(program.market, records), 0.0, objective=program.objective_record)
                return dataclasses.replace(found, solver="conic", constraints=program.extensions)
            if program.added:
                nothing = [program.acceptance == 0, program.spend == 0]
                problem = cp.Problem(cp.Minimize(0), [*program.added, *nothing])
                solve_in_attempts(problem, accept_inaccurate, options)
            return buy_nothing(program, _no_offers(program, 0.0), records, others)
        details = solve_in_attempts(program.problem, accept_inaccurate, options)
    except Infeasible:
        conflict = find_conflict(program, accept_inaccurate, options)
        none = _no_offers(program, budget)
        return dataclasses.replace(none, status=Status.INFEASIBLE, conflict=conflict, records=records)
    solution = _solution(program, budget, checked_acceptance(program), details)
    require_no_burnt_money(program, solution)
    aim = recorded_objective(program, solution.acceptance, accept_inaccurate, options)
    solution = dataclasses.replace(solution, objective=aim)
    prices = _multipliers(program, linear)
    if not others:
        solution = dataclasses.replace(solution, records=records, constraint_prices=prices)
    if program.removed or solution.status not in (Status.BINDING, Status.SLACK):
        return solution
    return solve_under_cuts(program, solution, (records, prices), others)


def _multipliers(program: Program, linear: Sequence[LinearConstraint]) -> Floats:
    """Return the multipliers of linear rows at the last solve.

    None where something was taken out of the program, or the solver gives none.
    """
    stated = (*program.of_records, *(one.constraint for one in linear))
    if program.removed or any(one.dual_value is None for one in stated):
        return np.zeros(0)
    rows = zip(program.of_records, program.statement.equal.tolist(), strict=False)  # bounds follow
    prices = [(float(one.dual_value), equal) for one, equal in rows]
    for one in linear:
        values = np.ravel(one.constraint.dual_value)
        prices += [(float(values[entry]), one.equal) for entry in one.row_entries]
    return np.array([price if equal else max(price, 0.0) for price, equal in prices], dtype=np.float64)


def _solution(program: Program, budget: float, acceptance: Floats, details: dict[str, Any]) -> Solution:
    """Return the offers of acceptances; of less where OP2 alone is overspent."""
    market, aim = program.market, program.objective_record
    refined = program.problem.refinement
    if refined is not None:
        details |= {
            "refinement_rounds": refined.rounds,
            "straight_pieces": refined.pieces,
            "two_sided_gap": refined.gap,
        }
    price = details["multiplier_of_budget"] = max(program.budget_price or 0.0, 0.0)
    if aim is not None and not program.is_extended:
        status = status_of(market, budget, aim)
    else:  # V is concave in B, so λB is at most V less what is bought for nothing
        binds = price * budget > BINDING_SHARE.value * abs(float(program.problem.value))
        status = Status.BINDING if binds else Status.SLACK

    def offer(acceptance: Floats, **more: float) -> Solution:
        offers, paid = offers_from_acceptance(program.statement.listed, acceptance), status is Status.BINDING
        known, all_details = {"constraints": program.extensions}, {**details, **more}
        return deliver("conic", market, budget, offers, price if paid else 0.0, status, all_details, **known)

    solution = offer(acceptance)
    if BUDGET_WORDS in program.removed:
        return solution
    require_within_budget(solution)
    over = solution.total_spend / budget - 1.0 if budget > 0 else 0.0
    if over <= -BUDGET_MARGIN.value or program.is_extended:
        return solution
    share = (1.0 - over) * (1.0 - BUDGET_MARGIN.value)  # the hull is convex and 0 at 0: spend falls by this or more
    return offer(share * acceptance, acceptance_lowered_by=1.0 - share)


def _no_offers(program: Program, budget: float) -> Solution:
    """Return the solution in which nobody gets an offer.

    Infeasible where the objective has no finite value then.
    """
    market = program.market
    acceptance = np.zeros(market.n)
    value = objective_at(program, acceptance)
    has_value = math.isfinite(value)
    aim = program.objective_record
    if aim is None:
        text, minimised = shortened_text(program.objective.args[0]), isinstance(program.objective, cp.Minimize)
        height = 0.0 if not has_value else -value if minimised else value
        aim = InCvxpy(text, value, height, tuple(acceptance.tolist()), minimised)
    return deliver(
        "conic",
        market,
        budget,
        Offers(market.low.copy(), acceptance),
        math.inf,
        Status.ZERO_BUDGET if has_value else Status.INFEASIBLE,
        {},
        constraints=program.extensions,
        conflict=() if has_value else (BUDGET_WORDS, f"a finite value of {aim.words}"),
        objective=aim,
    )
