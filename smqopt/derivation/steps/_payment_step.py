"""What an owner sells and is paid in expectation."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import ALLOCATION, CLIPPED_THRESHOLD, PAYMENT, Equation, F, Relation, SymbolRange, f
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._integration import integral_claims
from smqopt.derivation.statement._step import Step


def expected_payment(argument: Argument) -> Step:
    """Check ∫ P f = θ*F(θ*) and ∫ Q f = F(θ*) by antiderivatives."""
    theta, low, high = argument.theta, argument.law.low, argument.law.high
    star, rule = CLIPPED_THRESHOLD, argument.posted
    domain = argument.domain.with_intervals(SymbolRange(star, low, high))
    sold, paid = (sp.Integral(part * f(theta), (theta, low, star)) for part in (rule.sold, rule.paid))
    missed = [part * (F(high) - F(star)) for part in (rule.unsold, rule.unpaid)]  # above the threshold: nothing
    over_support = (theta, low, high)
    return Step(
        name="payment-identity",
        title="Expected payment",
        claim="An owner with threshold θ* sells with probability F(θ*) and is paid θ*F(θ*) in expectation, which is C(q) at q = F(θ*). "
        "So the objective of the mechanism is that of OP2, and its expected payments are OP2's spend.",
        reason="Integrate allocation and payment against the density: both are constant up to θ* and 0 above.",
        labels=("pi", "Pi", "eqn:payment", "eqn:BF", "OP1", "lem:theta"),
        equations=(
            Equation(sp.Integral(ALLOCATION(theta) * f(theta), over_support), Relation.EQUAL, sold + missed[0]),
            *integral_claims(argument, sold, rule.sold * F(theta), F(star) - missed[0], domain),
            Equation(sp.Integral(PAYMENT(theta) * f(theta), over_support), Relation.EQUAL, paid + missed[1]),
            *integral_claims(argument, paid, rule.paid * F(theta), star * F(star) - missed[1], domain),
        ),
    )
