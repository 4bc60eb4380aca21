"""The budget equation and the budget price."""

from __future__ import annotations

import sympy as sp

from smqopt.derivation.argument import Argument
from smqopt.derivation.domain import Interval
from smqopt.derivation.equation import Equation, Relation
from smqopt.derivation.letters import BUDGET, EPSILONS, LAMBDA, THRESHOLD, F, I, J, X, f, over_owners
from smqopt.derivation.step import Step

__all__ = ["budget_price"]


def budget_price(argument: Argument) -> Step:
    """Check the budget price by substitution into the budget equation; where it has no closed form, that spend rises in x."""
    theta, found = argument.theta, argument.budget_price
    spend = THRESHOLD(X) * F(THRESHOLD(X))
    owners = THRESHOLD(EPSILONS[I] / LAMBDA)
    equation = Equation(over_owners(owners * F(owners)), Relation.EQUAL, BUDGET)
    if found is None or argument.cost_at_low is None:
        rising = argument.claim(sp.Derivative(theta * F(theta), theta), f(theta) * J(theta), every_law=True)
        return _step(
            (equation, rising),
            note="No closed form of λ: spend is no constant plus a power of ε/λ. As it rises with x = ε/λ it falls in λ, so the "
            "budget equation has one root, found numerically.",
        )
    special = argument.fixing({} if found.low is None else {argument.law.low: found.low})
    inside = special.domain.with_intervals(Interval(X, found.lowest))
    return _step(
        (
            equation,
            Equation(LAMBDA, Relation.DEFINED, found.expression),
            special.claim(spend, found.constant + found.coefficient * X**found.exponent, domain=inside),
            special.claim(equation.left, BUDGET, where={LAMBDA: found.expression}),
        ),
        note=f"It holds where {found.condition}; elsewhere λ is the root of the budget equation with clipped thresholds.",
    )


def _step(equations: tuple[Equation, ...], note: str) -> Step:
    return Step(
        name="budget-price",
        title="Budget price",
        claim="The price λ is the one at which the thresholds spend the budget.",
        reason="Insert the thresholds into the budget equation, and solve for λ.",
        labels=("KKT", "eqn:BF"),
        equations=equations,
        note=note,
    )
