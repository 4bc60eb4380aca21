"""OP2 as a cvxpy program in acceptance and spend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import cvxpy as cp
from cvxpy.constraints import Inequality

from smqopt.errors import InputError
from smqopt.market import (
    ConstraintRecord,
    Market,
    Objective,
    PurchasedPrivacy,
    checked_budget,
    require_convex_costs,
    state,
)
from smqopt.numeric import PIECES_GAP
from smqopt.program._extensions import OF_PROGRAMS, Entry, Extensible
from smqopt.program._linear_rows import LinearConstraint, is_linear
from smqopt.program._objective import Aim, check_objective, state_objective
from smqopt.program._stated_rows import cost_links, record_rows
from smqopt.program.scaling._normalised import NormalisedProblem
from smqopt.program.scaling._scaling import Scaling


class Program(Extensible):
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
    statement
        The market and the records, in one form.
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
        self.statement = state(market, constraints)
        require_convex_costs(self.statement.listed, ironed=ironed)
        self.market = market
        self.records = self.statement.records
        self.ironed = ironed
        n = market.n
        counts = market.weights
        self.budget = cp.Parameter(nonneg=True, name="budget", value=checked_budget(budget))
        self.acceptance = cp.Variable(n, name="acceptance")
        self.spend = cp.Variable(n, name="spend")
        OF_PROGRAMS.update((self.acceptance.id, self.spend.id))
        self.purchased_privacy: cp.Expression = (counts * market.epsilon) @ self.acceptance

        self._scaling = Scaling(market, (self.acceptance, self.spend), self.current_budget, _checked_gap(target_gap))
        self.budget_constraint: cp.Constraint = counts @ self.spend <= self.budget
        self._scaling.state_budget(self.budget_constraint)
        self._op2 = [
            (self.acceptance >= 0, "acceptance >= 0"),
            (self.acceptance <= 1, "acceptance <= 1"),
            *cost_links(self.statement.listed.valuation, self._scaling),
            (self.budget_constraint, "the budget"),
        ]
        stated = record_rows(self.statement, self.acceptance, self.spend)
        self._of_records = [(constraint, self.records[record].words) for record, constraint in stated]
        self.constraints = [constraint for constraint, _ in (*self._op2, *self._of_records)]
        self._stated: list[Entry] = []
        self._problem: NormalisedProblem | None = None
        self._tight: tuple[NormalisedProblem, dict[int, cp.Parameter]] | None = None
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

    @property
    def problem(self) -> NormalisedProblem:
        """The cvxpy problem of the constraints as they are now.

        Made anew only where they have changed.
        """
        entries = self.entries()
        if self._problem is None or [id(one) for one in self._stated] != [id(one) for one in entries]:
            added = [one for one in self.in_cvxpy if isinstance(one, cp.Constraint)]
            others = [one for one in added if not is_linear(one, self.acceptance, self.spend)]
            in_copies, self._tight = (others, self.objective_record is None), None
            self._stated, self._problem = entries, NormalisedProblem(self._aim, entries, self._scaling, in_copies)
        return self._problem

    def feasibility_of(self, constraints: Sequence[Entry]) -> NormalisedProblem:
        """Return the cvxpy problem to find any point that satisfies some constraints."""
        return NormalisedProblem(cp.Maximize(0), constraints, self._scaling)

    def problem_with_slack(self, slack: Mapping[int, float]) -> NormalisedProblem:
        """Return the problem to find a point with slack in added inequalities; made once."""
        _ = self.problem  # forgets it where the constraints have changed
        if self._tight is None:
            added = [one for one in self.added if isinstance(one, Inequality)]
            least = {id(one): cp.Parameter(nonneg=True, value=slack[id(one)]) for one in added}
            tight = {id(one): one.expr <= -least[id(one)] for one in added}
            self._tight = self.feasibility_of([tight.get(id(one), one) for one in self.entries()]), least
        for one, parameter in self._tight[1].items():
            parameter.value = slack[one]
        return self._tight[0]

    @property
    def of_records(self) -> list[cp.Constraint]:
        """The constraints that state the records, in the order of the records."""
        return [constraint for constraint, _ in self._of_records]

    def linear_constraints(self) -> tuple[LinearConstraint, ...] | None:
        """Read what was added in cvxpy as linear rows and bounds, parameters as now.

        Returns
        -------
        tuple of LinearConstraint
            Or None where something added is not linear in acceptance and spend, or something was
            taken out.
        """
        linear, others = self.read(both_sides=True)
        return None if others or self.removed else linear

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
                remedy="state the objective in cvxpy, and solve it at one budget after another: set program.budget.value",
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


def _checked_gap(gap: float) -> float:
    if not 0 < gap < 1:
        remedy = f"use, say, {PIECES_GAP.value:g}"
        raise InputError("program: argument 'target_gap'", "must lie between 0 and 1", value=gap, remedy=remedy)
    return float(gap)
