"""The least budget that buys a given purchased privacy, certified from both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

import numpy as np

from smqopt.errors import InputError, SolverError
from smqopt.market import (
    ConstraintRecord,
    LeastSpend,
    Market,
    MeanSquaredError,
    Objective,
    PurchasedPrivacy,
    Solution,
    Status,
    checked_budget,
    needs_expansion,
)
from smqopt.numeric import ROUNDING, SEARCH_CLOSE, exact_dot, largest_within
from smqopt.questions.budget._constrained_least_budget import Enough, enough_with_constraints
from smqopt.questions.error._error_budgets import ErrorBudget, budget_for_error
from smqopt.questions.frontiers._at_budgets import as_records
from smqopt.questions.frontiers._support_points import Tangents
from smqopt.solvers import answers, solve
from smqopt.verification import Certificate, expected_spend, purchased_privacy, upper_bound, verify, weights

if TYPE_CHECKING:
    from smqopt.program import Program

_MOST_RAISES = 64
_RAISE = 2.0**-50
"""The first raise of a budget that falls short by rounding, relative to it."""


@dataclass(frozen=True, eq=False)
class LeastBudget:
    """The least budget for a purchased privacy, with thresholds that reach it.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.least_budget(market, 0.8)
    >>> round(found.budget, 6), found.budget >= found.lower_bound
    (0.496124, True)
    """

    purchased_privacy: float
    """What was asked for, in units of ε."""
    budget: float
    """Enough: the thresholds reach at least what was asked for. In currency; +∞ where no budget
    does."""
    lower_bound: float
    """No smaller budget than this is enough (weak duality), in currency."""
    budget_price: float
    """λ at the budget: one unit of privacy more costs about 1/λ."""
    status: Status
    """UNREACHABLE, ZERO_BUDGET, BINDING, or SLACK where everybody must sell for sure; INFEASIBLE
    where no budget satisfies the constraints."""
    certificate: Certificate | None = field(repr=False)
    """Of the thresholds at the budget; None where no budget is enough."""

    @property
    def solution(self) -> Solution | None:
        """The thresholds at the budget."""
        return None if self.certificate is None else self.certificate.solution

    @property
    def excess(self) -> float:
        """What is bought beyond the target, relative to it; NaN if out of reach."""
        if self.certificate is None:
            return math.nan
        found = self.certificate.solution
        beyond = found.objective_value - self.purchased_privacy
        beyond = -beyond if found.objective.smallest else beyond
        return beyond / self.purchased_privacy if self.purchased_privacy > 0 else 0.0

    @property
    def gap(self) -> float:
        """The distance between the budget and its lower bound, relative to the budget."""
        return (self.budget - self.lower_bound) / self.budget if 0 < self.budget < math.inf else 0.0


@overload
def least_budget(
    market: Market | Program,
    purchased_privacy: float,
    *,
    objective: Objective | None = None,
    constraints: Sequence[ConstraintRecord] = (),
) -> LeastBudget: ...
@overload
def least_budget(
    market: Market, *, error: float, objective: MeanSquaredError, constraints: Sequence[ConstraintRecord] = ()
) -> ErrorBudget: ...
def least_budget(
    market: Market | Program,
    purchased_privacy: float | None = None,
    *,
    error: float | None = None,
    objective: Objective | None = None,
    constraints: Sequence[ConstraintRecord] = (),
) -> LeastBudget | ErrorBudget:
    """Find the least budget for a purchased privacy Σ m_i ε_i q_i, or for an error.

    The price at which the owners answer with that much is searched; what they then spend is the
    budget, raised by rounding where it falls short.

    Parameters
    ----------
    market
        n owners; irregular laws are ironed. Or a `Program` under linear constraints, with its
        objective; its budget is not used.
    purchased_privacy
        What is to be reached, ≥ 0, in units of ε.
    error
        In its place: the largest root mean squared error of the linear release, in units of the
        answer, under the `objective`.
    objective
        Which error: variance, range and population of the entries. Or, with `purchased_privacy`,
        another record, of a sum over owners or of linear terms and minima, whose value is to be
        reached: no more than it where the record is minimised.
    constraints
        Constraint records; the budget is then searched along the frontier, whose tangents bound it
        from below.

    Returns
    -------
    LeastBudget or ErrorBudget
        Its thresholds never fall short of what was asked for; `excess` says by how much they exceed
        it, and `gap` how far the budget can be from the least one. Both are a few roundings, unless
        the spacing of doubles near θ̲ > 0 is what keeps thresholds apart.

    Raises
    ------
    InputError
        If the privacy is not a finite number ≥ 0.
    SolverError
        If rounding keeps the thresholds from what was asked for.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = least_budget(market, 1.0)
    >>> round(found.budget, 6), smq.solve(market, found.budget).purchased_privacy >= 1.0
    (0.775194, True)
    >>> least_budget(market, 2.0).status.name
    'UNREACHABLE'
    """
    if error is not None or isinstance(objective, MeanSquaredError):
        if error is None or not isinstance(objective, MeanSquaredError) or not isinstance(market, Market):
            remedy = "give, say, least_budget(market, error=20, objective=smq.MeanSquaredError(range=1))"
            raise InputError("least_budget", "takes a market, an error and a MeanSquaredError together", remedy=remedy)
        return budget_for_error(market, error, objective, constraints)
    target = checked_budget(purchased_privacy, "least_budget: argument 'purchased_privacy'")
    market, constraints, aim = as_records(market, constraints, objective)
    if isinstance(aim, LeastSpend):
        remedy = "solve with LeastSpend at a budget that is large enough"
        raise InputError("least_budget: argument 'objective'", "is itself the least spend", remedy=remedy)
    if constraints or not isinstance(aim, PurchasedPrivacy) or needs_expansion(market, aim):
        return _with_constraints(enough_with_constraints(market, target, constraints, aim), target)
    total = exact_dot(market.epsilon, np.broadcast_to(weights(market), market.epsilon.shape))
    if target > total:
        return LeastBudget(target, math.inf, math.inf, 0.0, Status.UNREACHABLE, None)
    most = market.most_that_can_be_spent
    solution = solve(market, 0.0) if target == 0 else _reach(market, target, total, most)
    if solution.purchased_privacy < target:
        raise SolverError(
            "least_budget: the thresholds found",
            f"must reach {target!r}",
            value=solution.purchased_privacy,
            remedy="ask for a little less",
        )
    price = solution.budget_price
    lower = _lower_bound(market, solution, target)
    return LeastBudget(target, solution.budget, lower, price, solution.status, verify(solution))


def _with_constraints(found: Enough, target: float) -> LeastBudget:
    if found.certificate is None:
        return LeastBudget(target, math.inf, math.inf, 0.0, found.status, None)
    solution = found.certificate.solution
    return LeastBudget(
        target, solution.budget, found.lower_bound, solution.budget_price, found.status, found.certificate
    )


def _reach(market: Market, target: float, total: float, most: float) -> Solution:
    """Return a solution that reaches the target, at a budget as small as can be."""
    tangents = Tangents(market, verified=False)

    def privacy_at(x: float) -> float:
        return purchased_privacy(market, answers(tangents.parts, x, market.n).acceptance)

    start = float(np.max(market.valuation.high)) / float(market.epsilon.max())
    if target == total:
        return solve(market, most)
    found = largest_within(privacy_at, target, start, 1.0, SEARCH_CLOSE)
    offers = answers(tangents.parts, found.below, market.n)
    spent = expected_spend(market, offers.thresholds, offers.acceptance)
    budget = min(max(spent + (target - purchased_privacy(market, offers.acceptance)) * found.below, 0.0), most)
    step = _RAISE
    for _ in range(_MOST_RAISES):
        solution = solve(market, budget)
        short = target - solution.purchased_privacy
        if short <= 0:
            return solution
        budget = min(budget + max(short * found.below, step * budget), most)
        step *= 2.0
    return solve(market, most)


def _lower_bound(market: Market, solution: Solution, target: float) -> float:
    """Return a budget below which nothing reaches the target, rounded down.

    V(B) ≤ ceiling + λ (B − spend) for every B.
    """
    price, budget = solution.budget_price, solution.budget
    if not 0 < price < math.inf:
        if target == 0 or price == math.inf:
            return 0.0
        # everybody must sell for sure: seen from a steeper tangent just below
        solution = solve(market, budget * (1.0 - _RAISE * 4.0))
        price, budget = solution.budget_price, solution.budget
        if not 0 < price < math.inf:
            return 0.0
    ceiling = upper_bound(market, budget, price)
    short = (target - ceiling) / price
    return max(0.0, min(budget + short - ROUNDING.value * (budget + (target + ceiling) / price), solution.budget))
