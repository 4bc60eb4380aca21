"""A program with convex constraints, under rows that follow from them.

The rows bound the optimum. The offers are the best under the rows, or what the conic solver found,
drawn towards a point strictly inside the constraints until they keep them all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Iterator, Sequence

import cvxpy as cp
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from smqopt.errors import SolverError
from smqopt.market import (
    ConstraintRecord,
    InCvxpy,
    Offers,
    Solution,
    StatedInCvxpy,
    Statement,
    Status,
    offers_from_acceptance,
    state,
)
from smqopt.numeric import SIDE_ROW, Floats, FrozenDict
from smqopt.program import Entry, Program, words_of
from smqopt.solvers.conic._attempts import Infeasible, solve_in_attempts
from smqopt.solvers.conic._supergradient import revalue, upward_value
from smqopt.solvers.conic.cuts._coupled_constraints import sharings
from smqopt.solvers.conic.cuts._residual import residual, size_of
from smqopt.solvers.conic.cuts._supporting_cuts import WEIGHTS, supporting_cuts
from smqopt.solvers.price_search._concave import solve_concave
from smqopt.solvers.structured._row_excess import row_excess
from smqopt.solvers.structured._structured_route import solve_statement

_SOLVED = Status.BINDING, Status.SLACK
_MARGINS = (2.0**-6, 2.0**-14, 2.0**-22)
"""How far inside a point is sought, relative to the terms of each constraint."""
_SHARES = tuple(2.0**-k for k in range(48, 0, -3))
"""How far offers are drawn towards it."""
_ROUNDING = 2.0**-46
"""Constraints broken by less, relative to their terms, are kept."""
_MOVES, _DEAR = 3, 2.0**-20
"""As often are acceptances moved onto rows of such a price, relative to the largest."""
_STEP = 2.0**-26
"""By what share of acceptances slopes of spend are taken."""
_COUNTS = 2.0**-48
"""A row whose price times its terms is less, relative to the objective, says nothing."""
_OPEN = 2.0**-30
"""Of the objective under cuts; where offers are worth less by more, other cuts are sought."""


def solve_under_cuts(
    program: Program, raw: Solution, linear: tuple[Sequence[ConstraintRecord], Floats], others: Sequence[Entry]
) -> Solution:
    """Polish a conic answer under rows that follow from convex constraints.

    It has about six digits of acceptance, and its multipliers err little more. They are a start a
    few steps away from those at which all rows are met, and these give every owner her threshold by
    her own law: J(θ) = e/p, with her reduced requirement and price. Of an objective in cvxpy that
    is so of the plane of its dual, which does not tell one offer from another where cost curves are
    straight; then the conic answer stands.

    `raw` is the answer of the conic solver, without records where something is not linear; `linear`
    holds what is linear, as records, and the multipliers of its rows. Where no offers were found
    that keep all constraints the records say by how much they break them.
    """
    curved = [one for one in others if isinstance(one, cp.Constraint)]
    records, prices = tuple(linear[0]), linear[1]
    groups, market = sharings(program, curved), program.market
    gap = math.inf
    with _keeps_values(program, curved):
        drawing = _Drawing(program, raw, state(market, records), curved)
        left = drawing.own_values()
        earlier = [(raw, left)]
        for weight in WEIGHTS:
            cuts, touched = supporting_cuts(
                groups,
                program.problem.normal(),
                (raw.acceptance, raw.spend),
                (program.problem.currency, market.high),
                weight,
            )
            statement = state(market, (*records, *(row for _, row, _ in cuts)))
            start = np.concatenate([[float(raw.details["multiplier_of_budget"])], prices, [cut[-1] for cut in cuts]])
            bound, why_not = _optimum(raw, statement, start)
            starts, best = ((touched, drawing.own_values()), (raw.acceptance, left)), None
            onto = [(drawing.at(raw, drawing.onto(q, statement, start[1:])), own) for q, own in starts]
            candidates = [*onto, *earlier]
            status, z = raw.status, start
            if bound is not None:
                bound = revalue(program, bound)
                status = bound.status if bound.status is Status.SLACK else raw.status
                z = np.append(bound.budget_price, bound.constraint_prices)
                candidates = [(bound, left), (bound, drawing.own_values()), *candidates]
                best = None if isinstance(raw.objective, InCvxpy) else bound
            found = drawing.best_of(candidates, best)
            earlier.append((found, drawing.own_values()))
            height = math.inf if best is None else upward_value(best)
            over = (height - upward_value(found)) / (abs(height) or 1.0)
            if gap == math.inf or over < gap:
                off = [drawing.excess(found, group.constraints) for group in groups]
                gap, kept = over, (found, off, cuts, z, status, why_not)
            if best is None or gap <= _OPEN:
                break
    found, off, cuts, z, status, why_not = kept
    if not curved and why_not is None and found is raw:
        why_not = "the plane does not tell one offer from another"
    if not curved and why_not is not None:
        return dataclasses.replace(raw, details=FrozenDict({**raw.details, "polished": False, "why_not": why_not}))
    value, rest = abs(found.objective_value), z.size - len(cuts)
    telling = [
        (number, row, price)
        for (number, row, _), price in zip(cuts, z[rest:].tolist(), strict=True)
        if price * max(abs(row.at_most), 1.0) > _COUNTS * value
    ]
    stated: list[ConstraintRecord] = []
    for number, (group, excess) in enumerate(zip(groups, off, strict=True)):
        mine = [row for k, row, _ in telling if k == number]
        stated.append(StatedInCvxpy.of(group.texts, mine, excess, found.acceptance, found.spend))
    return dataclasses.replace(
        found,
        solver=raw.solver,
        budget_price=float(z[0]) if status is Status.BINDING else 0.0,
        status=status,
        constraints=raw.constraints,
        records=(*records, *stated),
        constraint_prices=_freeze(np.append(z[1:rest], [price for *_, price in telling])),
        details=FrozenDict({**raw.details, "polished": why_not is None}),
        raw=raw,
    )


def _optimum(raw: Solution, statement: Statement, start: Floats) -> tuple[Solution | None, str | None]:
    """Return the best offers under rows, or why there are none.

    Where the budget has no price they need not keep it: prices of the rows alone bound the rest.
    """
    for budget in (raw.budget, statement.most_that_can_be_spent()):
        try:
            if statement.records:
                found = solve_statement(statement, budget, objective=raw.objective, start=start, with_conflict=False)
            else:
                found = solve_concave(statement.market, budget, raw.objective)
        except SolverError as error:
            return None, str(error)
        if raw.status is not Status.SLACK or found.status is not Status.BINDING:
            break
    if found.status not in _SOLVED:
        return None, f"polishing ends with {found.status.name}"
    return dataclasses.replace(found, budget=raw.budget), None


def buy_nothing(
    program: Program, solution: Solution, linear: Sequence[ConstraintRecord], others: Sequence[Entry]
) -> Solution:
    """Record what was added to a program without a budget.

    What is not linear for the values that its variables have.
    """
    nothing = np.zeros(program.market.n)
    curved = [one for one in others if isinstance(one, cp.Constraint)]
    with _keeps_values(program, curved):
        program.acceptance.value = program.spend.value = nothing
        stated = [StatedInCvxpy.of((words_of(one),), (), residual(one), nothing, nothing) for one in curved]
    records = (*linear, *stated)
    prices = np.zeros(len(state(program.market, records).names))
    return dataclasses.replace(solution, records=records, constraint_prices=_freeze(prices))


class _Drawing:
    """Says of acceptances whether offers of them keep all constraints of a program.

    Variables of the user's own are where the conic solver left them, or on the way to where they
    are at the point inside.
    """

    def __init__(self, program: Program, raw: Solution, linear: Statement, curved: Sequence[cp.Constraint]) -> None:
        self._program, self._raw, self._curved, self._statement = program, raw, curved, linear
        known = {program.acceptance.id, program.spend.id}
        every = {one.id: one for constraint in curved for one in constraint.variables() if one.id not in known}
        self._own = list(every.values())

    def own_values(self) -> list[Floats]:
        """Return the values of the user's own variables."""
        return [variable.value for variable in self._own]

    def best_of(self, candidates: Sequence[tuple[Solution, list[Floats]]], optimum: Solution | None) -> Solution:
        """Return the best of some offers, drawn inside where they break constraints.

        What surpasses the `optimum` breaks some, by a rounding. No others are tried once it keeps
        them as it is. The user's own variables are left where the constraints are kept.
        """
        kept: list[tuple[float, Solution, list[Floats]]] = []
        off: list[float] = []
        top = math.inf if optimum is None else upward_value(optimum)

        def keeps(one: Solution) -> bool:
            return self._excess_of_all(one) <= _ROUNDING and upward_value(one) <= top

        for solution, own in candidates:
            one = self._on_the_way(solution, own, 0.0)
            off.append(self._excess_of_all(one))
            if not keeps(one) and (self._curved or optimum is None) and self._inside is not None:
                drawn = (self._on_the_way(solution, own, share) for share in _SHARES)
                one = next((each for each in drawn if keeps(each)), one)
            if keeps(one):
                kept.append((upward_value(one), one, self.own_values()))
                if one is optimum:
                    break
        if not kept:
            return self._on_the_way(*candidates[int(np.argmin(off))], 0.0)
        most = max(value for value, *_ in kept)  # the first of what is as good but for a rounding
        _, best, own = next(each for each in kept if each[0] >= most - _ROUNDING * abs(most))
        self._leave(own)
        return best

    def excess(self, solution: Solution, constraints: Sequence[cp.Constraint]) -> float:
        """Return what offers break constraints by."""
        self._program.acceptance.value, self._program.spend.value = solution.acceptance, solution.spend
        return max((residual(one) for one in constraints), default=0.0)

    def _excess_of_all(self, one: Solution) -> float:
        """Return what offers break anything by, relative; +∞ where they overspend."""
        share = row_excess(self._statement, Offers(one.thresholds, one.acceptance, one.lottery))[1]
        share = np.where(self._statement.equal & (share <= 0.5 * SIDE_ROW.value), 0.0, share)
        rows = float(np.max(share, initial=0.0))
        return max(rows, self.excess(one, self._curved)) if one.total_spend <= one.budget else math.inf

    def _on_the_way(self, solution: Solution, own: list[Floats], share: float) -> Solution:
        """Go a share of the way to the point inside."""
        q = solution.acceptance
        if share > 0:
            assert self._inside is not None  # noqa: S101
            q = (1.0 - share) * q + share * self._inside[0]
            own = [(1.0 - share) * here + share * to for here, to in zip(own, self._inside[1], strict=True)]
        self._leave(own)
        return self.at(solution, q)

    def _leave(self, own: list[Floats]) -> None:
        for variable, value in zip(self._own, own, strict=True):
            variable.save_value(value)

    def onto(self, q: Floats, rows: Statement, prices: Floats) -> Floats:
        """Move acceptances, by a solver's rounding, to where rows with a price touch them."""
        A, S = rows.owner_rows()
        worth = np.abs(prices) * (abs(A).sum(axis=1) + abs(S).sum(axis=1))
        kept = np.flatnonzero(rows.equal | (worth > _DEAR * np.max(worth, initial=0.0)))
        low, high = (rows.expand(end) for end in (rows.lowest, rows.highest))
        for _ in range(_MOVES if kept.size else 0):
            free = np.flatnonzero((q > low) & (q < high))
            spend, less = (offers_from_acceptance(rows.listed, each).spend for each in (q, (1.0 - _STEP) * q))
            slope = (spend - less)[free] / (_STEP * q[free])
            over = A[kept] @ q + S[kept] @ spend - rows.at_most[kept]
            J = A[kept][:, free] + S[kept][:, free] @ sparse.diags_array(slope)
            q = q.copy()
            q[free] = np.clip(q[free] - lsqr(J, over, atol=0.0, btol=0.0)[0], low[free], high[free])
        return q

    def at(self, candidate: Solution, q: Floats) -> Solution:
        """Return offers of other acceptances, within their bounds."""
        low, high = (self._statement.expand(end) for end in (self._statement.lowest, self._statement.highest))
        q = np.clip(q, low, high)
        if np.array_equal(q, candidate.acceptance):
            return candidate
        offers = offers_from_acceptance(self._statement.listed, q)
        moved = dataclasses.replace(
            candidate,
            thresholds=_freeze(offers.thresholds),
            acceptance=_freeze(offers.acceptance),
            lottery=offers.lottery,
        )
        return revalue(self._program, moved)

    @functools.cached_property
    def _inside(self) -> tuple[Floats, list[Floats]] | None:
        """A point strictly inside all inequalities, and the user's own variables there."""
        program, budget = self._program, self._raw.budget
        sizes = {id(one): size_of(one) for one in program.added}
        for margin in _MARGINS:
            tight = program.problem_with_slack({key: margin * size for key, size in sizes.items()})
            program.budget.value = (1.0 - margin) * budget
            try:
                solve_in_attempts(tight, False, {})
            except (Infeasible, SolverError):
                continue
            finally:
                program.budget.value = budget
            return np.clip(program.acceptance.value, 0.0, 1.0), self.own_values()
        return None


@contextlib.contextmanager
def _keeps_values(program: Program, constraints: Sequence[cp.Constraint]) -> Iterator[None]:
    """Put values of variables and multipliers of constraints back as they were."""
    variables = [program.acceptance, program.spend, *(variable for one in constraints for variable in one.variables())]
    stated = (one for one in program.entries() if isinstance(one, cp.Constraint))
    variables += [dual for one in stated for dual in one.dual_variables]
    before = [(variable, variable.value) for variable in variables]
    try:
        yield
    finally:
        for variable, value in before:
            variable.save_value(value)


def _freeze(values: Floats) -> Floats:
    values.flags.writeable = False
    return values
