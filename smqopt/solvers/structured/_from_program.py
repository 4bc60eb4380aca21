"""A cvxpy program that is linear beyond OP2, solved by its dual.

Values and multipliers go back to its variables and constraints.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from smqopt.market import Solution, Statement, Status, state
from smqopt.numeric import Floats
from smqopt.solvers.structured._response import Owners
from smqopt.solvers.structured._structured_route import solve_statement

if TYPE_CHECKING:
    from smqopt.program import LinearConstraint, Program


_STEP = 2.0**-26
"""Relative step for the slope of the cost curve at a bound; only the multipliers of bounds depend
on it."""


def solve_linear(program: Program, added: Sequence[LinearConstraint], **options: Any) -> Solution:
    """Solve a program whose additions are linear, as `solve_statement` does.

    Afterwards `program.acceptance` and `program.spend` have values, and the budget and the added
    constraints their multipliers, as after a solve by cvxpy; without a solution they are left
    alone.
    """
    records = (*program.records, *(record for one in added for record in one.records))
    statement = state(program.market, records)
    assert program.objective_record is not None  # noqa: S101 -- who asks has seen to it
    solution = solve_statement(statement, program.current_budget(), objective=program.objective_record, **options)
    if solution.status in (Status.BINDING, Status.SLACK):
        _write_back(program, added, statement, solution)
    return dataclasses.replace(solution, constraints=program.extensions)


def _write_back(program: Program, added: Sequence[LinearConstraint], statement: Statement, solution: Solution) -> None:
    program.acceptance.value, program.spend.value = solution.acceptance.copy(), solution.spend
    program.budget_constraint.save_dual_value(np.array(solution.budget_price))
    prices = iter(solution.constraint_prices.tolist())
    count = statement.owner_rows()[0].shape[0]
    of_records = sum(1 for record in statement.record_of_row[:count] if record < len(program.records))
    for constraint in program.of_records[:of_records]:
        constraint.save_dual_value(np.array(next(prices)))
    if all(one.bounds is None for one in added):
        below = above = np.zeros(program.market.n)
    else:
        below, above = _multipliers_of_bounds(statement, solution)
    for one in added:
        values = np.zeros(one.constraint.size)
        for entry in one.row_entries:
            values[entry] += next(prices)
        for entry, owner, coefficient in one.bound_entries:
            mine = _of_bound(one, owner, coefficient, statement)
            values[entry] = (
                mine[1] * above[owner] - mine[0] * below[owner]
            ) / coefficient  # in units of the entry's limit
        one.constraint.save_dual_value(values.reshape(one.constraint.shape))


def _of_bound(one: LinearConstraint, owner: int, coefficient: float, statement: Statement) -> tuple[bool, bool]:
    """Return whether a constraint sets the bounds of an owner's acceptance."""
    row = owner if statement.row_of_owner is None else int(statement.row_of_owner[owner])
    by = (int(statement.lowest_by[row]), int(statement.highest_by[row]))
    sets = tuple(k >= 0 and statement.records[k] is one.bounds for k in by)
    return sets[0] and (one.equal or coefficient < 0), sets[1] and (one.equal or coefficient > 0)


def _multipliers_of_bounds(statement: Statement, solution: Solution) -> tuple[Floats, Floats]:
    """Return the multipliers of each owner's acceptance bounds, both ≥ 0; shape (n,)."""
    first = statement.first_owner
    q, utility = solution.acceptance[first], statement.utility(solution.objective)
    taken, p = statement.charge(solution.budget_price, solution.constraint_prices)
    e = utility.slope(q) - taken
    m, owners = statement.weights(), Owners(statement, utility)
    cost, step = owners.cost(q), np.maximum(q, _STEP) * _STEP
    lower, higher = np.maximum(q - step, 0.0), np.minimum(q + step, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(q > 0, (cost - owners.cost(lower)) / (q - lower), 0.0)
        after = np.where(q < 1, (owners.cost(higher) - cost) / (higher - q), np.inf)
        dearer = np.where(p > 0, p * after, 0.0)
    tight = 2 * _STEP
    above = np.where(q >= statement.highest - tight, np.maximum(m * (e - p * before), 0.0), 0.0)
    below = np.where((q <= statement.lowest + tight) & (q < 1), np.maximum(m * (dearer - e), 0.0), 0.0)
    return statement.expand(np.where(np.isfinite(below), below, 0.0)), statement.expand(above)
