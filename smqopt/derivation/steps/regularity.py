"""Regularity: whether the virtual cost is non-decreasing."""

from __future__ import annotations

import sympy as sp

from smqopt.derivation.argument import Argument
from smqopt.derivation.equation import Equation, Relation, Verdict
from smqopt.derivation.letters import J
from smqopt.derivation.reduction import shortest
from smqopt.derivation.step import Step
from smqopt.valuation.base import Valuation
from smqopt.valuation.regularity import Irregular, Regular

__all__ = ["regularity", "regularity_of"]


def regularity(argument: Argument) -> Step:
    """Check J′ ≥ 0 by the signs of its terms, for all parameters at once."""
    theta = argument.theta
    slope = sp.Derivative(J(theta), theta)
    formula = shortest(sp.diff(argument.virtual_cost, theta))
    return _step((argument.claim(slope, formula), argument.claim(slope, sp.Integer(0), Relation.AT_LEAST)))


def regularity_of(step: Step, valuation: Valuation) -> Step:
    """Settle what signs leave undecided by the verdict on the law at hand, with the method that reached it."""
    *others, claim = step.equations
    if claim.verdict is Verdict.PROVED:
        return step
    verdict = valuation.regularity()
    if isinstance(verdict, Regular):
        settled = Equation(claim.left, claim.relation, claim.right, Verdict.PROVED, verdict.method)
        return _step((*others, settled))
    if isinstance(verdict, Irregular):
        (a, b), (J_a, J_b) = verdict.witness, verdict.virtual_costs
        owner = "" if verdict.owner is None else f" for owner {verdict.owner + 1}"
        witness = f"J({a!r}) = {J_a!r} exceeds J({b!r}) = {J_b!r}{owner}: {verdict.method}"
        return _step((*others, Equation(claim.left, claim.relation, claim.right, Verdict.REFUTED, witness)))
    return _step((*others, claim), note=f"The law is treated as irregular: {verdict.method}.")


def _step(equations: tuple[Equation, ...], note: str = "") -> Step:
    return Step(
        name="regularity",
        title="Regularity",
        claim="The virtual cost is non-decreasing on the support. This, not a monotone hazard rate f/(1 − F), makes acceptance "
        "concave in spend, and OP2 a convex program.",
        reason="The sign of J′ = 2 − F f′/f².",
        labels=("A2", "Appendix D", "E1"),
        equations=equations,
        note=note,
    )
