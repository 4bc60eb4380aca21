"""Stationarity in acceptance."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import EPSILON, GAMMA, LAMBDA, MU, OWNER_LAGRANGIAN, Equation, F, Relation, f
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def stationarity(argument: Argument) -> Step:
    """Check the derivative of ℓ in acceptance against the printed one in θ."""
    theta, own = argument.theta, argument.owner_lagrangian
    printed = EPSILON * f(theta) - LAMBDA * (F(theta) + theta * f(theta)) + MU * f(theta) - GAMMA * f(theta)
    return Step(
        name="stationarity",
        title="Stationarity in acceptance",
        claim="At the optimum the derivative of ℓ_i with respect to acceptance vanishes. Multiplied by the density it is the printed "
        "condition, whose multipliers are fμ and fγ; the printed one says nothing where f = 0.",
        reason="dℓ/dq = (dℓ/dθ)/f. With these signs μ belongs to the low end and γ to the high end.",
        labels=("eqn:first order", "E2", "E15"),
        equations=(
            Equation(OWNER_LAGRANGIAN(theta), Relation.DEFINED, own),
            argument.claim(sp.Derivative(own, theta) / f(theta), argument.stationarity, every_law=True),
            argument.claim(f(theta) * argument.stationarity, printed, every_law=True),
            Equation(argument.stationarity, Relation.EQUAL, sp.Integer(0)),
        ),
    )
