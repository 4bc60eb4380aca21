"""The Lagrangian of OP2."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import (
    BUDGET,
    EPSILON,
    EPSILONS,
    GAMMA,
    GAMMAS,
    LAGRANGIAN,
    LAMBDA,
    MU,
    MUS,
    THETAS,
    Equation,
    F,
    I,
    Relation,
    over_owners,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def lagrangian(argument: Argument) -> Step:
    """Check that L splits by owner and bounds the objective from above."""
    theta, q = THETAS[I], F(THETAS[I])
    surplus = LAMBDA * (BUDGET - over_owners(theta * q)) + over_owners(MUS[I] * q) + over_owners(GAMMAS[I] * (1 - q))
    of_owner = {argument.theta: theta, EPSILON: EPSILONS[I], MU: MUS[I], GAMMA: GAMMAS[I]}
    own = argument.owner_lagrangian.xreplace(of_owner)
    return Step(
        name="lagrangian",
        title="Lagrangian",
        claim="The Lagrangian of OP2 has one budget term, and multipliers μ_i of q_i ≥ 0 and γ_i of q_i ≤ 1, in units of "
        "acceptance. At feasible thresholds it is never below the objective, and it splits by owner.",
        reason="Expand: L − Σ ε_i F_i(θ_i) is λ, μ_i and γ_i times what the constraints keep ≥ 0. The paper prints B inside the "
        "sum over owners and leaves the terms in μ and γ out of it.",
        labels=("OP2", "E2", "E3"),
        equations=(
            Equation(LAGRANGIAN, Relation.DEFINED, argument.lagrangian),
            argument.claim(argument.lagrangian - over_owners(EPSILONS[I] * q), surplus, every_law=True),
            argument.claim(argument.lagrangian, LAMBDA * BUDGET + over_owners(own), every_law=True),
            argument.claim(sp.Derivative(argument.lagrangian, BUDGET), LAMBDA, every_law=True),
        ),
    )
