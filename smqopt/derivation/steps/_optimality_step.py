"""Posted thresholds are optimal among truthful mechanisms (errata E17)."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from smqopt.algebra import (
    ALLOCATION,
    DENSE,
    FALLEN,
    OTHER,
    PAYMENT,
    RENT,
    REPORT,
    RISEN,
    SHARE,
    THETA,
    UTILITY,
    Domain,
    Equation,
    F,
    J,
    Relation,
    SymbolRange,
    Verdict,
    decide_claim,
    f,
    follows,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step
from smqopt.valuation import HIGH, LOW

_CHORD = sp.symbols("q_1 q_2 C_1 C_2 C slope", nonnegative=True)
"""Two points of the curve, the curve at their mean acceptance, and the slope of its tangent there.
"""


def optimality(argument: Argument) -> Step:
    """Check the payment identity, the lottery over thresholds, and Jensen's gap."""
    theta, high = argument.theta, argument.law.high
    every = sp.Integral(ALLOCATION(theta) * J(theta) * f(theta), (theta, argument.law.low, high))
    return Step(
        name="optimality",
        title="Optimality over all mechanisms",
        claim="No truthful mechanism that nobody loses by buys more privacy with the same expected budget. Its interim allocation Q is "
        "non-increasing, its expected payment is ∫ QJf plus the utility at the high end, which is ≥ 0; so acceptance and spend of "
        "an owner are those of a lottery over posted thresholds, with probabilities −dQ(t). As the cost curve is convex, the one "
        "threshold with the same acceptance spends no more.",
        reason="Add truth-telling at two valuations to see Q fall, and write utility, which is convex with slope −Q, as the integral of Q. "
        "By parts, d(FR) = (fR − FQ)dθ for the rent R = ∫ Q up to the high end, and d(QF), d(QθF) for the lottery; what stands under d "
        "vanishes at the ends, or is the share that always sells. The curve lies above its tangent at θ, as their difference is 0 at "
        "t = θ and changes with t at the rate f(t)(J(t) − J(θ)); averaged over a lottery, what the tangent adds vanishes. "
        "The others' reports have been integrated out, so this holds owner by owner.",
        labels=("Qi", "Pi", "eqn:IC", "eqn:IR", "eqn:BF", "OP1", "lem:theta", "Thr.IC", "E17"),
        equations=(
            *_allocation_falls(argument),
            Equation(RENT(theta), Relation.DEFINED, sp.Integral(ALLOCATION(REPORT), (REPORT, theta, high))),
            Equation(PAYMENT(theta), Relation.EQUAL, theta * ALLOCATION(theta) + RENT(theta) + UTILITY(high, high)),
            *_payment_identity(argument),
            Equation(
                sp.Integral(PAYMENT(theta) * f(theta), (theta, argument.law.low, high)),
                Relation.EQUAL,
                every + UTILITY(high, high),
            ),
            *_lottery(argument),
            *jensen_gap(),
            *_tangent(argument),
        ),
        note="Where Q jumps, its fall is a threshold with a positive probability, and the integrals are read in that sense.",
    )


def _allocation_falls(argument: Argument) -> tuple[Equation, ...]:
    """Claim (ψ − θ)(Q(θ) − Q(ψ)) ≥ 0 as the sum of the two gains from truth."""
    theta, psi = argument.theta, REPORT
    here, there = ALLOCATION(theta), ALLOCATION(psi)
    paid_here, paid_there = PAYMENT(theta), PAYMENT(psi)
    truth = (
        (paid_here - theta * here)
        - (paid_there - theta * there)
        + (paid_there - psi * there)
        - (paid_here - psi * here)
    )
    return (_open(argument, truth, (psi - theta) * (here - there), {}),)


def _payment_identity(argument: Argument) -> tuple[Equation, ...]:
    """Claim R′ = −Q, no gain from a report, and expected payment by parts."""
    theta, psi = argument.theta, REPORT
    allocation = -sp.Derivative(RENT(theta), theta)
    gain = psi * ALLOCATION(psi) + RENT(psi) - theta * ALLOCATION(psi)
    by_rent = {ALLOCATION(psi): -sp.Derivative(RENT(psi), psi)}
    low, high = argument.law.low, argument.law.high
    at_low, at_high = F(low) * RENT(low), F(high) * RENT(high)
    payment, parts = theta * ALLOCATION(theta) + RENT(theta), sp.Derivative(F(theta) * RENT(theta), theta)
    return (
        _open(argument, sp.Derivative(gain, psi), (psi - theta) * sp.Derivative(ALLOCATION(psi), psi), by_rent),
        _open(
            argument,
            payment * f(theta),
            ALLOCATION(theta) * J(theta) * f(theta) + parts,
            {ALLOCATION(theta): allocation},
        ),
        _open(argument, at_high - at_low, sp.Integer(0), {RENT(high): sp.Integer(0)}, every_law=False),
    )


def _lottery(argument: Argument) -> tuple[Equation, ...]:
    """Claim that Q is a lottery over thresholds, in acceptance and in spend."""
    theta, low, high = argument.theta, argument.law.low, argument.law.high
    x, slope = ALLOCATION(theta), sp.Derivative(ALLOCATION(theta), theta)
    at_low, at_high = ALLOCATION(low), ALLOCATION(high)
    spend, mixed = theta * F(theta), sp.Integral(-slope, (theta, low, high))
    return (
        _open(argument, at_high + mixed + (1 - at_low), sp.Integer(1), {mixed: at_low - at_high}),
        _open(argument, x * f(theta), -slope * F(theta) + sp.Derivative(x * F(theta), theta), {}),
        _open(argument, x * J(theta) * f(theta), -slope * spend + sp.Derivative(x * spend, theta), {}),
        _open(argument, at_high * F(high) - at_low * F(low), at_high, {}, every_law=False),
        _open(argument, at_high * high * F(high) - at_low * low * F(low), at_high * high, {}, every_law=False),
    )


def jensen_gap() -> tuple[Equation, ...]:
    """Claim that the gap to the tangent grows on both sides of θ."""
    dense, zero = replace(DENSE, term=f(OTHER)), sp.Integer(0)
    above = follows(f(OTHER) * (J(OTHER) - J(THETA)), Relation.AT_LEAST, zero, dense, RISEN)
    below = follows(f(OTHER) * (J(THETA) - J(OTHER)), Relation.AT_LEAST, zero, dense, FALLEN)
    return (
        replace(above, domain=(SymbolRange(OTHER, THETA, HIGH),)),
        replace(below, domain=(SymbolRange(OTHER, LOW, THETA),)),
    )


def _tangent(argument: Argument) -> tuple[Equation, ...]:
    """Claim the rate of the tangent's gap, and Jensen's gap as its mean."""
    theta, t = argument.theta, OTHER
    gap = t * F(t) - theta * F(theta) - J(theta) * (F(t) - F(theta))
    q_1, q_2, c_1, c_2, c, slope = _CHORD
    mean = SHARE * q_1 + (1 - SHARE) * q_2
    tangents = [cost - c - slope * (q - mean) for q, cost in ((q_1, c_1), (q_2, c_2))]
    of_tangents = SHARE * tangents[0] + (1 - SHARE) * tangents[1]
    zero, one = sp.Integer(0), sp.Integer(1)
    chord = Domain((SymbolRange(SHARE, zero, one), *(SymbolRange(symbol, zero) for symbol in _CHORD)))
    domain = argument.domain.with_intervals(SymbolRange(t, argument.law.low, argument.law.high))
    return (
        argument.claim(gap.subs(t, theta), zero, every_law=True),
        argument.claim(sp.Derivative(gap, t), f(t) * (J(t) - J(theta)), every_law=True, domain=domain),
        decide_claim(of_tangents, Relation.EQUAL, SHARE * c_1 + (1 - SHARE) * c_2 - c, chord, {}),
    )


def _open(
    argument: Argument, left: sp.Expr, right: sp.Expr, where: dict[sp.Expr, sp.Expr], *, every_law: bool = True
) -> Equation:
    """Claim an identity for every allocation, and evaluate it for one."""
    domain = argument.domain.with_intervals(SymbolRange(REPORT, argument.law.low, argument.law.high))
    general = argument.claim(left, right, every_law=every_law, where=where, domain=domain)
    example = _example(argument)
    spelled = {part: formula.xreplace(example) for part, formula in where.items()} | example
    checked = argument.claim(left, right, every_law=every_law, where=spelled, domain=domain)
    if checked.verdict is Verdict.REFUTED:
        return checked
    exact, evaluated = general.method.split("; ")[0], checked.method.split("; ")[-1]
    method = f"{exact}; for Q(θ) = (high − θ)/high it {evaluated}"
    return replace(general, method=method, points=checked.points)


def _example(argument: Argument) -> dict[sp.Expr, sp.Expr]:
    """Return one allocation with its rent and payment."""
    high = argument.law.high
    known: dict[sp.Expr, sp.Expr] = {}
    for place in (argument.theta, REPORT, argument.law.low, high):
        allocation, rent = (high - place) / high, (high - place) ** 2 / (2 * high)
        known |= {ALLOCATION(place): allocation, RENT(place): rent, PAYMENT(place): place * allocation + rent}
    return known
