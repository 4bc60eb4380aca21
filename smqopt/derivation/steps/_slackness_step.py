"""Complementary slackness, and the multipliers in the three cases."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import (
    BUDGET,
    EPSILON,
    GAMMA,
    LAMBDA,
    MU,
    THETAS,
    THRESHOLD,
    Equation,
    F,
    I,
    Relation,
    SymbolRange,
    X,
    over_owners,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def slackness_conditions(theta: sp.Symbol) -> tuple[Equation, ...]:
    """State what is asked of the optimum beside stationarity."""
    spend = over_owners(THETAS[I] * F(THETAS[I]))
    zero = sp.Integer(0)
    asked = (
        (MU * F(theta), Relation.EQUAL, zero),
        (GAMMA * (1 - F(theta)), Relation.EQUAL, zero),
        (LAMBDA * (BUDGET - spend), Relation.EQUAL, zero),
        (spend, Relation.AT_MOST, BUDGET),
        *((multiplier, Relation.AT_LEAST, zero) for multiplier in (LAMBDA, MU, GAMMA)),
    )
    return tuple(Equation(*parts, every_law=True) for parts in asked)


def complementary_slackness(argument: Argument) -> Step:
    """Check stationarity, slackness and signs at both ends and inside."""
    law, theta, zero = argument.law, argument.theta, sp.Integer(0)
    claims: list[Equation] = []
    notes: list[str] = []
    if argument.lower_multiplier is not None and argument.cost_at_low is not None:
        mu = argument.lower_multiplier
        below = argument.domain.with_intervals(SymbolRange(X, zero, argument.cost_at_low))
        claims += [
            argument.limit(law.low, argument.cost_at_low),
            argument.claim(argument.stationarity.subs({MU: mu, GAMMA: zero, theta: law.low}), zero),
            argument.claim(mu * F(law.low), zero),
        ]
        if argument.cost_at_low != 0:  # else x = 0, and ε and μ with it
            claims.append(argument.claim(mu.subs(EPSILON, LAMBDA * X), zero, Relation.AT_LEAST, domain=below))
    else:
        notes.append("J(low) could not be found, so the case at the low end is left open.")
    if argument.inverse is not None:
        inside = argument.stationarity.subs({MU: zero, GAMMA: zero, EPSILON: LAMBDA * X, theta: THRESHOLD(X)})
        claims += argument.off_jumps(argument.claim(inside, zero, domain=argument.inside))
    if argument.upper_multiplier is not None and argument.cost_at_high is not None:
        gamma = argument.upper_multiplier
        above = argument.domain.with_intervals(SymbolRange(X, argument.cost_at_high))
        claims += [
            argument.limit(law.high, argument.cost_at_high),
            argument.claim(argument.stationarity.subs({MU: zero, GAMMA: gamma, theta: law.high}), zero),
            argument.claim(gamma * (1 - F(law.high)), zero),
            argument.claim(gamma.subs(EPSILON, LAMBDA * X), zero, Relation.AT_LEAST, domain=above),
        ]
    elif argument.cost_at_high is not None:
        claims.append(argument.limit(law.high, argument.cost_at_high))
    else:
        notes.append("J(high) could not be found, so the case at the high end is left open.")
    return Step(
        name="slackness",
        title="Complementary slackness",
        claim="A multiplier is positive only where its constraint binds: μ = λJ(low) − ε for an owner at the low end, γ = ε − λJ(high) "
        "for one at the high end, both 0 inside. λ is positive only if the budget is spent; the budget is not to be exceeded, "
        "and need not be met.",
        reason="Substitute each case into stationarity; with x = ε/λ the signs are those of J(low) − x and x − J(high).",
        labels=("KKT", "E2", "E3"),
        equations=(*slackness_conditions(theta), *claims),
        note=" ".join(notes)
        or ("" if argument.cost_at_high != sp.oo else "J grows without bound, so no price reaches the high end."),
        open=bool(notes),
    )
