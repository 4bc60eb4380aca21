"""The weak-duality bound."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import BUDGET, EPSILON, EPSILONS, LAMBDA, THETAS, Equation, F, I, J, Relation, f, over_owners
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def weak_duality(argument: Argument) -> Step:
    """Check that every price bounds what can be bought, and what attains the bound."""
    theta = argument.theta
    q, cost = F(THETAS[I]), THETAS[I] * F(THETAS[I])
    bound = LAMBDA * BUDGET + over_owners(EPSILONS[I] * q - LAMBDA * cost)
    gain = EPSILON * F(theta) - LAMBDA * theta * F(theta)
    return Step(
        name="weak-duality",
        title="Weak duality",
        claim="For every price λ ≥ 0, λB + Σ max_q {ε_i q − λC_i(q)} is at least the purchased privacy of all feasible acceptances, "
        "whatever produced λ. The inner maximum is at the threshold of the rule above, and the bound is met if the budget is spent.",
        reason="The difference is λ times the budget left over. The inner gain rises while J(θ) < ε/λ and falls beyond, as J is "
        "non-decreasing.",
        labels=("OP2", "Appendix D", "E1"),
        equations=(
            Equation(over_owners(EPSILONS[I] * q), Relation.AT_MOST, bound),
            argument.claim(bound - over_owners(EPSILONS[I] * q), LAMBDA * (BUDGET - over_owners(cost)), every_law=True),
            argument.claim(sp.Derivative(gain, theta), f(theta) * (EPSILON - LAMBDA * J(theta)), every_law=True),
        ),
    )
