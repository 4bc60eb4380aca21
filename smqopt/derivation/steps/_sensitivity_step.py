"""What one more unit of budget buys."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from smqopt.algebra import (
    BUDGET,
    EPSILON,
    EPSILONS,
    LAMBDA,
    PRICE,
    THRESHOLD,
    VALUE,
    Equation,
    F,
    I,
    J,
    Relation,
    SymbolRange,
    X,
    f,
    over_owners,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def sensitivity(argument: Argument) -> Step:
    """Check dV/dB = λ: privacy rises at λ times the rate of spend."""
    theta = argument.theta
    claims = [
        argument.claim(
            EPSILON * sp.Derivative(F(theta), theta) - LAMBDA * sp.Derivative(theta * F(theta), theta),
            f(theta) * (EPSILON - LAMBDA * J(theta)),
            every_law=True,
        )
    ]
    if argument.inverse is not None:
        star = THRESHOLD(X)
        claims.append(
            argument.claim(X * sp.Derivative(F(star), X), sp.Derivative(star * F(star), X), domain=argument.inside)
        )
        claims += _in_closed_form(argument)
    return Step(
        name="sensitivity",
        title="Sensitivity",
        claim="The budget price is the slope of the most privacy V(B) that a budget buys: dV/dB = λ.",
        reason="As B grows, thresholds inside move with ε = λJ(θ), so that Σ ε dq = λ Σ d(θq) = λ dB; thresholds at an end stay.",
        labels=("OP2", "KKT"),
        equations=(Equation(sp.Derivative(VALUE(BUDGET), BUDGET), Relation.EQUAL, LAMBDA, every_law=True), *claims),
    )


def _in_closed_form(argument: Argument) -> list[Equation]:
    found = argument.budget_price
    if found is None:
        return []
    special = argument.fix({} if found.low is None else {argument.law.low: found.low})
    value = over_owners(EPSILONS[I] * F(THRESHOLD(EPSILONS[I] / PRICE(BUDGET))))
    claim = special.claim(sp.Derivative(value, BUDGET), PRICE(BUDGET), where={PRICE(BUDGET): found.expression})
    at_low = () if found.low is None else (SymbolRange(argument.law.low, found.low, found.low),)
    highest = None if found.highest == sp.oo else found.highest
    return [replace(claim, domain=(*at_low, SymbolRange(EPSILONS[I] / LAMBDA, found.lowest, highest)))]
