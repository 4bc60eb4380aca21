"""Polishing a conic answer under convex constraints.

Rows that touch them stand in their place, and move until the offers keep the constraints.

The conic solver tells where the optimum lies, and what the constraints take there. Rows that touch
them near by take their place; the structured solver finds the optimum under the rows to the last
digits, and its offers break the constraints by the square of what they moved. Where that is too
much, further rows are added.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from smqopt.errors import SolverError
from smqopt.market import ConstraintRecord, LinearRow, Solution, StatedInCvxpy, Statement, Status, state, units_of
from smqopt.numeric import SIDE_ROW, Floats, FrozenDict
from smqopt.program import Entry, LinearReading, Program, is_linear, words_of
from smqopt.solvers.conic._multipliers import linear_part
from smqopt.solvers.conic._supergradient import revalue
from smqopt.solvers.conic.cuts._coupled_constraints import Sharing, sharings
from smqopt.solvers.conic.cuts._cut_pool import CutRows, apart, loosen
from smqopt.solvers.conic.cuts._local_model import Standing, local_program, on_rows
from smqopt.solvers.conic.cuts._residual import residual
from smqopt.solvers.conic.cuts._supporting_cuts import SupportingCuts, support
from smqopt.solvers.structured._dual_newton import Dual
from smqopt.solvers.structured._response import Owners
from smqopt.solvers.structured._structured_route import solve_statement

_MOST_ROUNDS = 12
_GOOD = 2.0**-35
"""A gap so small is not worth another round."""
_COUNTS = 2.0**-48
"""A row whose price times its terms is less, relative to the objective, says nothing."""


def polish_with_cuts(
    program: Program, raw: Solution, linear: tuple[Sequence[ConstraintRecord], Floats], others: Sequence[Entry]
) -> Solution:
    """Polish a conic answer, and record rows that follow from convex constraints.

    Parameters
    ----------
    program
        The program, as the conic solver left it.
    raw
        Its answer, without records.
    linear
        What is linear, as records, and the multipliers of its rows.
    others
        What is not.

    Returns
    -------
    Solution
        Where the offers could not be brought to keep the constraints, the raw one, with the rows
        that were found; `details` says so. Where something was taken out of the program, or too
        much was added, the raw one as it stands.
    """
    curved = [one for one in others if isinstance(one, cp.Constraint)]
    too_many = any(is_linear(one, program.acceptance, program.spend) for one in curved)
    if program.removed or too_many or raw.status not in (Status.BINDING, Status.SLACK):
        return raw
    records, prices = linear
    with _keeps_values(program, curved):
        solution = _Polishing(program, raw, tuple(records), sharings(program, curved)).run(prices)
    return _with_truths(solution, others)


def buy_nothing(program: Program, solution: Solution, reading: LinearReading) -> Solution:
    """Record what was added to a program without a budget.

    What is not linear for the values that its variables have.
    """
    records: list[ConstraintRecord] = list(linear_part(program, reading)[0])
    nothing = np.zeros(program.market.n)
    curved = [one for one in reading.others if isinstance(one, cp.Constraint)]
    with _keeps_values(program, curved):
        program.acceptance.value = program.spend.value = nothing
        records += [StatedInCvxpy.of((words_of(one),), (), residual(one), nothing, nothing) for one in curved]
    prices = np.zeros(len(state(program.market, records).names))
    recorded = dataclasses.replace(solution, records=tuple(records), constraint_prices=_freeze(prices))
    return _with_truths(recorded, reading.others)


def _with_truths(solution: Solution, others: Sequence[Entry]) -> Solution:
    """Record True, which may stand among constraints and says nothing."""
    q, spend = solution.acceptance, solution.spend
    truths = [StatedInCvxpy.of((words_of(one),), (), 0.0, q, spend) for one in others if one is True or one is np.True_]
    return dataclasses.replace(solution, records=(*solution.records, *truths))


@contextlib.contextmanager
def _keeps_values(program: Program, constraints: Sequence[cp.Constraint]) -> Iterator[None]:
    """Put the values of variables back as they were."""
    variables = [program.acceptance, program.spend, *(variable for one in constraints for variable in one.variables())]
    before = [(variable, variable.value) for variable in variables]
    try:
        yield
    finally:
        for variable, value in before:
            variable.save_value(value)


@dataclass(frozen=True)
class _Polishing:
    """What is polished."""

    program: Program
    raw: Solution
    records: tuple[ConstraintRecord, ...]
    """What is linear."""
    groups: list[Sharing]
    """What is not."""

    def run(self, prices: Floats) -> Solution:
        """Touch, solve, and look, until the offers keep all."""
        raw = self.raw
        price = float(raw.details["multiplier_of_budget"])
        at = Standing(raw.acceptance, self.program.normal(), price, prices)
        found, why = (
            CutRows(),
            f"after {_MOST_ROUNDS} rounds the offers still break the constraints, or rows stay loose",
        )
        for number in range(1, _MOST_ROUNDS + 1):
            touched = self.support(at)
            if touched is None:
                why = "no rows were found that touch the constraints"
                break
            found = found.with_cuts(touched)
            at = dataclasses.replace(
                at, price=float(touched.multipliers[0]), linear=touched.multipliers[1:][: prices.size]
            )
            following: tuple[Standing, CutRows] | None = None
            ways = (touched.acceptance, None) if raw.status is Status.BINDING else (touched.acceptance,)
            for near in ways:
                solution = self.solve(at, found, near)
                if solution is None:
                    continue
                there, priced = self.move(at, found, solution)
                following = following or (there, priced)
                if any(group.has_own for group in self.groups) and near is None:
                    self.support(there)
                broken = self.excess(solution)
                if max(broken) <= SIDE_ROW.value and self.gap(solution, there, priced) <= _GOOD:
                    return self.record(solution, priced, broken, number)
            step = dataclasses.replace(at, acceptance=touched.acceptance, taken=found.charge(raw.market.n))
            at, found = following or (step, found)
        return self.give_up_polish(found, at.linear, why)

    def gap(self, solution: Solution, at: Standing, found: CutRows) -> float:
        """Return the relative gap for the multipliers as they will be recorded."""
        statement = self.statement(found.rows)
        owners = Owners(statement, statement.utility(solution.objective))
        z = np.concatenate([[solution.budget_price], at.linear, found.prices])
        point = Dual(owners, solution.budget).at(z, 0.0)
        bought = owners.value(on_rows(statement, solution.acceptance))
        return (point.value - bought) / max(abs(point.value), np.finfo(float).tiny)

    def support(self, at: Standing) -> SupportingCuts | None:
        """Touch the constraints near offers."""
        statement, market = self.statement(()), self.program.market
        local = local_program(statement, self.raw.objective, self.raw.budget, at)
        return support(self.groups, local, units_of(market).currency, market.high)

    def solve(self, at: Standing, found: CutRows, near: Floats | None) -> Solution | None:
        """Solve with the rows in place of the constraints.

        None where that ends with anything but offers of a budget that is spent or not.
        """
        start = np.concatenate([[at.price], at.linear, found.prices])
        statement, raw = self.statement(found.rows), self.raw
        try:
            solution = solve_statement(
                statement, raw.budget, objective=raw.objective, start=start, near=near, with_conflict=False
            )
        except SolverError:  # the next rows may do
            return None
        good = solution.status in (Status.BINDING, Status.SLACK)
        return revalue(self.program, solution) if good else None

    def move(self, at: Standing, found: CutRows, solution: Solution) -> tuple[Standing, CutRows]:
        """Return where a solution stands.

        A row that does not touch the offers has no price, and one that they break by rounding gives
        way.
        """
        linear, prices = np.split(solution.constraint_prices, [at.linear.size])
        away = [apart(row, solution.acceptance, solution.spend) for row in found.rows]
        prices = np.where(np.array(away) <= 0.5 * SIDE_ROW.value, prices, 0.0)
        q, spend = solution.acceptance, solution.spend
        rows = (loosen(row, q, spend) if price else row for row, price in zip(found.rows, prices, strict=True))
        priced = dataclasses.replace(found, rows=tuple(rows), prices=tuple(prices.tolist()))
        taken = priced.charge(solution.market.n)
        return Standing(solution.acceptance, taken, solution.budget_price, linear), priced

    def statement(self, rows: Sequence[LinearRow]) -> Statement:
        """State the linear records and the rows."""
        return state(self.program.market, (*self.records, *rows))

    def excess(self, solution: Solution) -> list[float]:
        """Return what offers break each group by, for the values of own variables."""
        self.program.acceptance.value, self.program.spend.value = solution.acceptance, solution.spend
        return [max(residual(one) for one in group.constraints) for group in self.groups]

    def record(self, solution: Solution, found: CutRows, broken: Sequence[float], rounds: int) -> Solution:
        """Put the rows that count in records of the constraints that they follow from."""
        linear = solution.constraint_prices[: solution.constraint_prices.size - len(found.rows)]
        records, prices = self.of_groups(solution, found, broken)
        return dataclasses.replace(
            solution,
            solver=self.raw.solver,
            constraints=self.raw.constraints,
            records=(*self.records, *records),
            constraint_prices=_freeze(np.concatenate([linear, prices])),
            details=FrozenDict({**self.raw.details, "polished": True, "rounds_of_cuts": rounds}),
            raw=self.raw,
        )

    def give_up_polish(self, found: CutRows, linear: Floats, why: str) -> Solution:
        """Return the raw answer, with what bounds it."""
        records, prices = self.of_groups(self.raw, found, self.excess(self.raw))
        return dataclasses.replace(
            self.raw,
            records=(*self.records, *records),
            constraint_prices=_freeze(np.concatenate([linear, prices])),
            details=FrozenDict({**self.raw.details, "polished": False, "why_not": why}),
        )

    def of_groups(
        self, solution: Solution, found: CutRows, broken: Sequence[float]
    ) -> tuple[list[StatedInCvxpy], Floats]:
        """Record each group with the rows that count, and give their prices."""
        value = abs(solution.objective_value)
        records: list[StatedInCvxpy] = []
        prices: list[float] = []
        for number, (group, off) in enumerate(zip(self.groups, broken, strict=True)):
            mine = [
                (row, price)
                for row, k, price in zip(found.rows, found.groups, found.prices, strict=True)
                if k == number and price * max(abs(row.at_most), 1.0) > _COUNTS * value
            ]
            prices += [price for _, price in mine]
            cuts = [row for row, _ in mine]
            records.append(StatedInCvxpy.of(group.texts, cuts, off, solution.acceptance, solution.spend))
        return records, np.array(prices)


def _freeze(values: Floats) -> Floats:
    values.flags.writeable = False
    return values
