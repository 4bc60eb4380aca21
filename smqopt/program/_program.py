"""OP2 as a cvxpy program in acceptance and spend."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

import cvxpy as cp
import numpy as np
from cvxpy.constraints import Inequality

from smqopt.errors import InputError
from smqopt.market import (
    ConstraintRecord,
    Market,
    Objective,
    PurchasedPrivacy,
    Statement,
    checked_budget,
    require_convex_costs,
    state,
    units_of,
)
from smqopt.numeric import PIECES_GAP, Floats
from smqopt.program._cost_links import cost_links
from smqopt.program._extensions import OF_PROGRAMS, Additions, entries
from smqopt.program._linear_rows import LinearConstraint, is_linear
from smqopt.program._objective import Aim, ObjectiveScale, check_objective, state_objective
from smqopt.program._record_rows import record_rows
from smqopt.program.scaling._budget_scale import BudgetScale
from smqopt.program.scaling._linking_copies import Tied
from smqopt.program.scaling._normalised import NormalisedProblem, ScaledRow, Scaling


class Program:
    """OP2 in cvxpy, stated in acceptance and spend.

    It is convex because the cost curves C_i(q) = q F_i⁻¹(q) are (Appendix D):

        maximise  Σ m_i ε_i q_i   subject to   C_i(q_i) ≤ b_i,   Σ m_i b_i ≤ B,   0 ≤ q_i ≤ 1.

    For a law that is not proved regular C_i is replaced by its convex hull, if asked for: expected
    payments of lotteries between two thresholds.

    At an optimum b_i is the expected payment B_i of Appendix D wherever the budget binds. The
    budget is a cvxpy Parameter, so that a sweep over budgets compiles once; the requirements ε are
    constants.

    Parameters
    ----------
    market
        n owners. Where no exact cone form of a law is known its cost curve is stated by straight
        pieces, which a solve refines.
    budget
        B ≥ 0, in currency.
    objective
        An objective record, or a function that returns a cvxpy objective for this program;
        purchased privacy by default. See also `objective` below.
    constraints
        Constraint records; each is stated in cvxpy, and named in `extensions` as it names itself.
    ironed
        Whether to state the convex hull of C_i where a law is irregular or undecided.
    target_gap
        How near upper and lower bound of the optimum must come, relative to it, where cost curves
        are stated by straight pieces: tangents bound the optimum from above, chords find what is
        feasible. `problem.refinement` says what was reached. Where all forms are exact it is not
        used.

    Raises
    ------
    InputError
        If the budget is not a finite number ≥ 0, or the gap not a number between 0 and 1.
    IrregularLawError
        If a law is irregular or undecided, and `ironed` is not set; it names the owner and shows
        the witness.

    Attributes
    ----------
    market
        The market.
    records
        The constraint records.
    ironed
        Whether hulls are stated.
    acceptance
        q, a cvxpy Variable of shape (n,).
    spend
        b for one owner of each row, a cvxpy Variable of shape (n,), in currency.
    objective_record
        The objective as a record; None where it was stated in cvxpy.
    budget
        B, a cvxpy Parameter, in currency; set `budget.value` for another budget.
    purchased_privacy
        Σ m_i ε_i q_i, a cvxpy expression, in units of ε.
    constraints
        A list to add to, or to take from.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import smqopt as smq
    >>> program = smq.Program(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    >>> program.constraints += [program.acceptance[0] >= 0.25]
    >>> print(round(float(program.problem.solve()), 4))
    0.7895
    >>> program.extensions
    ('0.25 <= acceptance[0]',)
    """

    def __init__(
        self,
        market: Market,
        budget: float,
        *,
        objective: Objective | Callable[[Program], Aim] | None = None,
        constraints: Sequence[ConstraintRecord] = (),
        ironed: bool = False,
        target_gap: float = PIECES_GAP.value,
    ) -> None:
        self._statement = state(market, constraints)
        require_convex_costs(self._statement.listed, ironed=ironed)
        self.market = market
        self.records = self._statement.records
        self.ironed = ironed
        n = market.n
        counts = market.weights
        self.budget = cp.Parameter(nonneg=True, name="budget", value=checked_budget(budget))
        self.acceptance = cp.Variable(n, name="acceptance")
        self.spend = cp.Variable(n, name="spend")
        OF_PROGRAMS.update((self.acceptance.id, self.spend.id))
        self.purchased_privacy: cp.Expression = (counts * market.epsilon) @ self.acceptance

        units = units_of(market)
        unitless_spend = cp.Variable(n, name="unitless_spend")
        links = cost_links(
            self._statement.listed.valuation, self.acceptance, self.spend, unitless_spend, units.currency
        )
        rows, pieces = links.rows, links.pieces
        names: list[tuple[cp.Constraint, str]] = [
            (self.acceptance >= 0, "acceptance >= 0"),
            (self.acceptance <= 1, "acceptance <= 1"),
            *links.named,
        ]
        self.budget_constraint: cp.Constraint = counts @ self.spend <= self.budget
        names.append((self.budget_constraint, "the budget"))

        scale = BudgetScale(market, units, self.current_budget, pieces)
        rows[id(self.budget_constraint)] = ScaledRow(
            scale.inverse_budget * (units.weights @ unitless_spend) <= scale.share, scale.budget_unit
        )
        self._scaling = Scaling(
            spend=self.spend,
            currency=units.currency,
            unitless_spend=unitless_spend,
            acceptance=self.acceptance,
            objective=cp.Maximize(scale.inverse_objective * (units.values @ self.acceptance)),
            objective_unit=scale.objective_unit,
            rows=rows,
            refresh=scale.refresh,
            pieces=tuple(pieces),
            target_gap=_checked_gap(target_gap),
        )
        self._names = names
        stated = list(record_rows(self._statement, self.acceptance, self.spend, unitless_spend, units.currency))
        rows |= {id(one.constraint): one.row for one in stated}
        self._of_records = [(one.constraint, self.records[one.record].words) for one in stated]
        self.constraints: list[cp.Constraint] = [constraint for constraint, _ in (*names, *self._of_records)]
        self._stated: list[cp.Constraint] = []
        self._problem: NormalisedProblem | None = None
        self._tightened: tuple[NormalisedProblem, list[tuple[cp.Constraint, cp.Parameter]]] | None = None
        self._of_op2, self._scale = self._scaling, scale
        self._copy = cp.Variable(n, name="acceptance")
        self.objective = PurchasedPrivacy() if objective is None else objective

    @property
    def objective(self) -> Aim:
        """What is maximised or minimised, in cvxpy.

        Set it to a record, to a cvxpy objective that is concave in acceptance alone (convex where
        it is minimised), or to a function that returns one for the program.
        """
        return self._aim

    @objective.setter
    def objective(self, objective: Objective | Callable[[Program], Aim] | Aim) -> None:
        if isinstance(objective, Objective):
            self.objective_record: Objective | None = objective
            self._aim = state_objective(objective, self.market, self.acceptance, self.spend)
        else:
            given = objective(self) if callable(objective) else objective
            self._aim, self.objective_record = check_objective(given, self.acceptance), None
        self._problem = None
        self.tie: cp.Constraint | None = None
        if isinstance(objective, PurchasedPrivacy):
            self._aim = cp.Maximize(self.purchased_privacy)
            self._scaling = self._of_op2
            return
        aim = self._aim
        if self.objective_record is None:  # a copy of acceptance, so that the multiplier of the tie is a supergradient
            aim = type(aim)(aim.args[0].tree_copy({id(self.acceptance): self._copy}))
            self.tie = self._copy == self.acceptance
        copied = self.tie is not None
        if isinstance(aim, cp.Minimize):  # the solver sees a maximisation
            aim = cp.Maximize(-aim.args[0])
        scale = ObjectiveScale(aim, self._copy if copied else self.acceptance, self._scale.even_acceptance)

        def refresh() -> None:
            self._of_op2.refresh()
            scale.refresh()

        self._scaling = dataclasses.replace(
            self._of_op2,
            objective=scale.seen,
            objective_unit=scale.unit if isinstance(self._aim, cp.Maximize) else lambda: -scale.unit(),
            refresh=refresh,
            beside=() if self.tie is None else (self.tie,),
        )

    @property
    def problem(self) -> NormalisedProblem:
        """The cvxpy problem of the constraints as they are now.

        Made anew only where they have changed.
        """
        if self._problem is None or not _same(self._stated, entries(self.constraints)):
            self._stated, self._tightened = entries(self.constraints), None
            self._problem = NormalisedProblem(self._aim, self._stated, self._with_ties())
        return self._problem

    def _with_ties(self) -> Scaling:
        """State what is not linear in copies of acceptance and spend."""
        scaling = self._scaling
        entries = [one for one in self.additions.in_cvxpy if isinstance(one, cp.Constraint)]
        others = [one for one in entries if not is_linear(one, self.acceptance, self.spend)]
        if not others:
            return scaling
        tied = Tied.of(others, self.acceptance, scaling.unitless_spend)
        return dataclasses.replace(scaling, tied=tied, beside=(*scaling.beside, *tied.ties))

    def normal(self) -> tuple[Floats, Floats]:
        """Return what the constraints that are not linear took at the last solve.

        Of one more unit of each acceptance, and of spend; shape (n,) each.

        In units of the objective per unit: together they are normal to what these constraints
        allow. 0 where there are none.
        """
        tied = self.problem.tied
        if tied is None:
            return np.zeros(self.market.n), np.zeros(self.market.n)
        of_acceptance, of_spend = tied.charge()
        return self.objective_unit() * of_acceptance, self.objective_unit() * of_spend / self._scaling.currency

    def supergradient(self) -> Floats:
        """Return what one more unit of each acceptance added at the last solve.

        Of an objective in cvxpy, in the direction of maximising; shape (n,).
        """
        assert self.tie is not None  # noqa: S101
        return np.asarray(self.tie.dual_value, dtype=np.float64) * self.objective_unit()

    def objective_unit(self) -> float:
        """Return what the objective was divided by in the last solve."""
        return abs(float(self._scaling.objective_unit()))

    def feasibility_of(self, constraints: Sequence[cp.Constraint]) -> NormalisedProblem:
        """Return the cvxpy problem to find any point that satisfies some constraints."""
        nothing = cp.Maximize(0)
        return NormalisedProblem(nothing, constraints, dataclasses.replace(self._of_op2, objective=nothing))

    def problem_with_slack(self, slack: Mapping[int, float]) -> NormalisedProblem:
        """Return the problem to find a point with slack in added inequalities; made once."""
        _ = self.problem  # forgets it where the constraints have changed
        if self._tightened is None:
            added = [one for one in self.added if isinstance(one, Inequality)]
            slacks = [(one, cp.Parameter(nonneg=True, value=slack[id(one)])) for one in added]
            tight = {id(one): one.expr <= -parameter for one, parameter in slacks}
            problem = self.feasibility_of([tight.get(id(one), one) for one in entries(self.constraints)])
            self._tightened = problem, slacks
        for one, parameter in self._tightened[1]:
            parameter.value = slack[id(one)]
        return self._tightened[0]

    @property
    def additions(self) -> Additions:
        """What the constraints as they are now add to OP2, and what they leave out."""
        records, acceptance, spend = self.records, self.acceptance, self.spend
        return Additions(records, self._names, self._of_records, entries(self.constraints), acceptance, spend)

    @property
    def added(self) -> list[cp.Constraint]:
        """The constraints that are not OP2's own."""
        return self.additions.added

    @property
    def removed(self) -> tuple[str, ...]:
        """Constraints of OP2 and of records that were taken out, in words, each once."""
        return self.additions.removed

    @property
    def extensions(self) -> tuple[str, ...]:
        """What differs from OP2, in words.

        Records, other constraints added, then what was taken out.
        """
        return self.additions.words

    @property
    def is_extended(self) -> bool:
        """Whether the constraints are others than OP2's own."""
        return self.additions.any

    @property
    def of_records(self) -> list[cp.Constraint]:
        """The constraints that state the records, in the order of the records."""
        return [constraint for constraint, _ in self._of_records]

    @property
    def statement(self) -> Statement:
        """The market and the records, in one form."""
        return self._statement

    def linear_constraints(self) -> tuple[LinearConstraint, ...] | None:
        """Read what was added in cvxpy as linear rows and bounds, parameters as now.

        Returns
        -------
        tuple of LinearConstraint
            Or None where something added is not linear in acceptance and spend, or something was
            taken out.
        """
        found = self.additions.read(both_sides=True)
        return None if found.others or self.removed else found.linear

    def as_records(self) -> tuple[Market, tuple[ConstraintRecord, ...], Objective]:
        """Return the market, all that was added to OP2 as records, and the objective.

        Raises
        ------
        InputError
            If the objective is no record, something added is not linear, or something was taken
            out.
        """
        added = None if self.objective_record is None else self.linear_constraints()
        if added is None or self.objective_record is None:
            raise InputError(
                "program",
                "must have an objective record and linear constraints in acceptance and spend, with nothing taken out",
                value="; ".join(self.extensions) or str(self.objective),
                remedy="solve it at one budget after another: set program.budget.value",
            )
        records = (*self.records, *(record for one in added for record in one.records))
        return self.market, records, self.objective_record

    def current_budget(self) -> float:
        """Return B as it is set now, in currency.

        Raises
        ------
        InputError
            If it is not a finite number ≥ 0.
        """
        value = self.budget.value
        if value is None:
            raise InputError("program: budget", "is not set", remedy="set program.budget.value")
        return checked_budget(float(value), "program: budget")

    @property
    def budget_price(self) -> float | None:
        """λ = dV/dB as of the last solve, in units of ε per unit of currency.

        None before, 0 without a budget.

        It is the multiplier of the budget's constraint: cvxpy has the multiplier of a ≤ in a
        maximisation as ≥ 0.
        """
        if "the budget" in self.removed:
            return 0.0
        value = self.budget_constraint.dual_value
        return None if value is None else float(value)

    def __repr__(self) -> str:
        changes = f", {len(self.extensions)} extensions" if self.is_extended else ""
        return f"Program({self.market!r}, budget {self.budget.value!r}{changes})"


def _same(left: Iterable[object], right: Iterable[object]) -> bool:
    return [id(x) for x in left] == [id(x) for x in right]


def _checked_gap(gap: float) -> float:
    if not 0 < gap < 1:
        remedy = f"use, say, {PIECES_GAP.value:g}"
        raise InputError("program: argument 'target_gap'", "must lie between 0 and 1", value=gap, remedy=remedy)
    return float(gap)
