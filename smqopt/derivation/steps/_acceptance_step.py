"""Acceptance as a function of spend."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import ACCEPTANCE, COSTLY, DENSE, NOT_FALLING, SPEND, THETA, Equation, F, J, Relation, f, follows
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step

_SECOND = -sp.Derivative(J(THETA), THETA) / (f(THETA) * J(THETA) ** 3)
"""The second derivative of acceptance in spend."""


def acceptance_from_spend(argument: Argument) -> Step:
    """Check the first two derivatives of acceptance in spend, and their signs."""
    theta = argument.theta
    spend_rate = sp.Derivative(theta * F(theta), theta)
    return Step(
        name="acceptance",
        title="Acceptance as a function of spend",
        claim="Acceptance q = F(θ) rises with spend B_i = θF(θ) at the rate 1/J, and is concave in it where J is non-decreasing: its "
        "second derivative is −J′ divided by f and the cube of J.",
        reason="Divide dq/dθ = f by dB_i/dθ = fJ; differentiate 1/J once more in the same way.",
        labels=("Appendix D", "E1"),
        equations=(
            Equation(ACCEPTANCE, Relation.DEFINED, F(theta)),
            Equation(SPEND, Relation.DEFINED, theta * F(theta)),
            argument.claim(sp.Derivative(F(theta), theta) / spend_rate, 1 / J(theta), every_law=True),
            argument.claim(sp.Derivative(1 / J(theta), theta) / spend_rate, _SECOND, every_law=True),
            follows(1 / J(theta), Relation.AT_LEAST, sp.Integer(0), COSTLY),
            *concavity(),
        ),
    )


def concavity() -> tuple[Equation, ...]:
    """Claim that the second derivative is ≤ 0; it rests on regularity."""
    return (follows(_SECOND, Relation.AT_MOST, sp.Integer(0), NOT_FALLING, COSTLY, DENSE),)
