"""Regularity: whether the virtual cost is non-decreasing."""

from __future__ import annotations

from itertools import pairwise

import sympy as sp

from smqopt.algebra import Equation, J, Relation, Verdict, shortest
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def regularity(argument: Argument) -> Step:
    """Check J′ ≥ 0 for all parameters, and J where pieces of the law meet."""
    theta = argument.theta
    slope = sp.Derivative(J(theta), theta)
    formula = sp.diff(argument.virtual_cost, theta)
    formula = formula if argument.pieces else shortest(formula)
    claims = (argument.claim(slope, formula), *not_falling(argument))
    return Step(
        name="regularity",
        title="Regularity",
        claim="The virtual cost is non-decreasing on the support. This, not a monotone hazard rate f/(1 − F), makes acceptance "
        "concave in spend, and OP2 a convex program.",
        reason="The sign of J′ = 2 − F f′/f².",
        labels=("A2", "Appendix D", "E1"),
        equations=claims,
    )


def not_falling(argument: Argument) -> tuple[Equation, ...]:
    """Claim that J falls neither within the support nor where pieces meet."""
    slope = sp.Derivative(J(argument.theta), argument.theta)
    return (argument.claim(slope, sp.Integer(0), Relation.AT_LEAST), *_joints(argument))


def _joints(argument: Argument) -> tuple[Equation, ...]:
    """Claim that J does not fall from one piece of the law to the next."""
    claims = []
    for before, after in pairwise(argument.pieces):
        joint = before.law.high
        below, above = (sp.Limit(J(argument.theta), argument.theta, joint, side) for side in "-+")
        if after.law.is_gap:
            continue  # J rises to infinity
        if before.law.is_gap:
            flat = f"F is flat from {before.law.low} to {joint}: J is infinite there, and finite beyond"
            claims.append(Equation(above, Relation.AT_LEAST, below, Verdict.REFUTED, flat))
        elif None not in (before.cost_at_high, after.cost_at_low) and before.cost_at_high != sp.oo:
            known = {below: before.cost_at_high, above: after.cost_at_low}
            claims.append(argument.claim(above, below, Relation.AT_LEAST, where=known))
        else:
            claims.append(Equation(above, Relation.AT_LEAST, below, Verdict.UNDECIDED, "J has no limit at hand there"))
    return tuple(claims)
