"""The threshold rule."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import CLIPPED_THRESHOLD, EPSILON, LAMBDA, THRESHOLD, Equation, F, J, Relation, SymbolRange, X, f
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step
from smqopt.derivation.steps._regularity_step import not_falling

ROOT = "As J does not fall, εF − λθF rises up to the root θ*(x) of J(θ) = x and falls beyond, so the root is the threshold; it is found numerically."
"""What is said of θ* without a closed form, where J does not fall."""


def threshold(argument: Argument) -> Step:
    """Check J(θ*(x)) = x, and θ*(J(θ)) = θ on the support."""
    theta, law = argument.theta, argument.law
    common = (Equation(X, Relation.DEFINED, EPSILON / LAMBDA, every_law=True),)
    if argument.inverse is None:
        marginal = sp.Derivative(EPSILON * F(theta) - LAMBDA * theta * F(theta), theta)
        cases = threshold_cases(argument)
        rule = Equation(CLIPPED_THRESHOLD, Relation.DEFINED, cases, needs_regularity=True)
        claims = [
            argument.claim(marginal, f(theta) * (EPSILON - LAMBDA * J(theta)), every_law=True),
            *not_falling(argument),
        ]
        for end, cost in ((law.low, argument.cost_at_low), (law.high, argument.cost_at_high)):
            if cost is not None:
                claims.append(argument.limit(end, cost))
        return _step(
            (*common, *claims, rule),
            note="No closed form was found: J(θ) = x is neither of degree ≤ 2 in θ, in a root or in a power of it, nor linear plus "
            f"one exponential, or the branch could not be proved. {ROOT}",
        )
    claims = [
        *argument.off_jumps(argument.claim(J(THRESHOLD(X)), X, domain=argument.inside)),
        argument.claim(THRESHOLD(J(theta)), theta),
    ]
    for end, cost in ((law.low, argument.cost_at_low), (law.high, argument.cost_at_high)):
        if cost is not None and cost != sp.oo:
            claims.append(argument.claim(THRESHOLD(cost), end))
    rule = Equation(CLIPPED_THRESHOLD, Relation.DEFINED, threshold_cases(argument))
    upper = None if argument.cost_at_high == sp.oo else argument.cost_at_high
    low = sp.Integer(0) if argument.cost_at_low is None else argument.cost_at_low
    inside = (SymbolRange(X, low, upper),)
    form = Equation(THRESHOLD(X), Relation.DEFINED, argument.inverse.threshold, domain=inside)
    return _step((*common, form, *claims, rule))


def threshold_cases(argument: Argument) -> sp.Piecewise:
    """State the threshold rule with its cases: low end, inside, high end.

    Where no limit of J was found at the high end, it may be finite for some parameters.
    """
    law, low, high = argument.law, argument.cost_at_low, argument.cost_at_high
    cases = [] if low is None else [(law.low, sp.Le(X, low, evaluate=False))]
    if high != sp.oo:
        cases.append((law.high, sp.Ge(X, J(law.high) if high is None else high, evaluate=False)))
    return sp.Piecewise(*cases, (THRESHOLD(X), True), evaluate=False)


def _step(equations: tuple[Equation, ...], note: str = "") -> Step:
    return Step(
        name="threshold",
        title="Threshold rule",
        claim="Inside the support the optimal threshold solves J(θ) = x with x = ε/λ, the virtual cost at which the owner is bought; "
        "else it is clipped to the end of the support that is nearer.",
        reason="Stationarity with μ = γ = 0. Where there is a closed form, θ*(J(θ)) gives θ back on the whole support: so J is one to "
        "one, and the branch is the right one.",
        labels=("eqn:first order", "KKT", "E15"),
        equations=equations,
        note=note,
    )
