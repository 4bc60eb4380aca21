"""Acceptance as a function of spend."""

from __future__ import annotations

import sympy as sp

from smqopt.derivation.argument import Argument
from smqopt.derivation.equation import Equation, Relation
from smqopt.derivation.letters import ACCEPTANCE, SPEND, F, J, f
from smqopt.derivation.step import Step

__all__ = ["acceptance_from_spend"]


def acceptance_from_spend(argument: Argument) -> Step:
    """Check the first two derivatives of acceptance in spend."""
    theta = argument.theta
    spend_rate = sp.Derivative(theta * F(theta), theta)
    return Step(
        name="spend",
        title="Acceptance as a function of spend",
        claim="Acceptance q = F(θ) rises with spend B_i = θF(θ) at the rate 1/J, and is concave in it where J is non-decreasing.",
        reason="Divide dq/dθ = f by dB_i/dθ = fJ; differentiate 1/J once more in the same way.",
        labels=("Appendix D",),
        equations=(
            Equation(ACCEPTANCE, Relation.DEFINED, F(theta)),
            Equation(SPEND, Relation.DEFINED, theta * F(theta)),
            argument.claim(sp.Derivative(F(theta), theta) / spend_rate, 1 / J(theta), every_law=True),
            argument.claim(
                sp.Derivative(1 / J(theta), theta) / spend_rate,
                -sp.Derivative(J(theta), theta) / (f(theta) * J(theta) ** 3),
                every_law=True,
            ),
        ),
    )
