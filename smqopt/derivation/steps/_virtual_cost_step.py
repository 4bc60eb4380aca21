"""The virtual cost, which is what one more unit of acceptance costs."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import ACCEPTANCE, COST_CURVE, QUANTILE, Equation, F, J, Relation, f
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def virtual_cost(argument: Argument) -> Step:
    """Check J = θ + F/f against the derivative of expected payment."""
    theta = argument.theta
    spend = theta * F(theta)
    return Step(
        name="virtual-cost",
        title="Virtual cost",
        claim="The virtual cost J is the derivative of the expected payment θF(θ) with respect to the acceptance q = F(θ): "
        "C′(q) = J(F⁻¹(q)) for C(q) = q F⁻¹(q).",
        reason="d(θF)/dθ = F + θf = f·(θ + F/f), and dq/dθ = f.",
        labels=("Appendix D",),
        equations=(
            Equation(J(theta), Relation.DEFINED, theta + F(theta) / f(theta), every_law=True),
            Equation(COST_CURVE(ACCEPTANCE), Relation.DEFINED, ACCEPTANCE * QUANTILE(ACCEPTANCE), every_law=True),
            argument.claim(theta + F(theta) / f(theta), argument.virtual_cost),
            argument.claim(sp.Derivative(spend, theta), f(theta) * J(theta), every_law=True),
            argument.claim(sp.Derivative(spend, theta) / sp.Derivative(F(theta), theta), J(theta), every_law=True),
        ),
    )
