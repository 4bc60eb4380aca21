"""Slack and empty budgets, and owners and laws at the edge of the rest."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from smqopt.algebra import (
    ACCEPTANCE,
    ACCEPTS,
    COSTLY,
    DENSE,
    EPSILON,
    EPSILONS,
    GAMMA,
    LAMBDA,
    MU,
    OTHER,
    SHARE,
    Equation,
    F,
    I,
    J,
    Relation,
    SymbolRange,
    decide_claim,
    f,
    follows,
    over_owners,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def degenerate_cases(argument: Argument) -> Step:
    """Check the claims that settle each case."""
    return Step(
        name="degenerate",
        title="Slack and degenerate cases",
        claim="B = 0: spend is positive at every threshold above the low end, so nobody gets an offer. B ≥ Σ high: everybody gets the high "
        "end at λ = 0, with γ = ε. ε_i = 0: any offer loses at every λ > 0, so there is none. A low end above 0: J ≥ θ, so owners with "
        "ε_i < λ·low get no offer, whatever the others do. f = 0 at an end: the printed condition in θ holds there for every ε and λ and says nothing; "
        "the one in acceptance still decides. Equal ends: C(q) lies between low q and high q, so it is linear, and the owner at the "
        "margin gets a lottery. Ties: owners alike in law and ε have one x, and where J is constant acceptance may move between them at no cost.",
        reason="Substitute each case into spend, stationarity, or the printed condition.",
        labels=("OP2", "eqn:first order", "KKT", "E3", "E15"),
        equations=(
            *_budget(argument),
            *_owner(argument),
            *_law(argument),
        ),
        note="An acceptance of 0 means no offer: such an owner is not selected, whatever she reports.",
    )


def _budget(argument: Argument) -> tuple[Equation, ...]:
    """B = 0, and B ≥ Σ high."""
    theta, high, zero = argument.theta, argument.law.high, sp.Integer(0)
    at_no_price = {LAMBDA: zero, MU: zero, GAMMA: EPSILON}
    bought = over_owners(EPSILONS[I] * F(high))
    return (
        follows(theta * F(theta), Relation.AT_LEAST, zero, ACCEPTS),
        argument.claim(argument.law.low * F(argument.law.low), zero),
        argument.claim(over_owners(high * F(high)), over_owners(high)),
        argument.claim(bought, over_owners(EPSILONS[I])),
        replace(
            argument.claim(argument.stationarity.subs(theta, high), zero, where=at_no_price),
            domain=tuple(SymbolRange(letter, value, value) for letter, value in at_no_price.items()),
        ),
    )


def _owner(argument: Argument) -> tuple[Equation, ...]:
    """ε = 0, a low end above 0, and owners alike."""
    theta, zero = argument.theta, sp.Integer(0)
    gain = EPSILON * F(theta) - LAMBDA * theta * F(theta)
    without_privacy = {EPSILON: zero}
    q, moved = ACCEPTANCE, SHARE
    common = J(theta)  # where it is constant
    alike = argument.domain.with_intervals(SymbolRange(q, zero, sp.Integer(1)), SymbolRange(moved, zero, q))
    return (
        argument.claim(sp.Derivative(gain.subs(without_privacy), theta), -LAMBDA * f(theta) * J(theta), every_law=True),
        follows(-LAMBDA * f(theta) * J(theta), Relation.AT_MOST, zero, DENSE, COSTLY),
        argument.claim(J(theta) - theta, F(theta) / f(theta), every_law=True),
        follows(F(theta) / f(theta), Relation.AT_LEAST, zero, ACCEPTS, DENSE),
        argument.claim(common * (q + moved) + common * (q - moved), 2 * common * q, domain=alike),
    )


def _law(argument: Argument) -> tuple[Equation, ...]:
    """A density that vanishes at an end, and equal ends."""
    theta, law, zero = argument.theta, argument.law, sp.Integer(0)
    printed = EPSILON * f(theta) - LAMBDA * (F(theta) + theta * f(theta)) + MU * f(theta) - GAMMA * f(theta)
    q, place = ACCEPTANCE, OTHER
    share, low, high = SymbolRange(q, zero, sp.Integer(1)), law.low, law.high
    inside = (SymbolRange(place, low, high), share)
    between = argument.domain.with_intervals(*inside)
    return (
        *_vacuous(argument, printed),
        replace(decide_claim(place * q, Relation.AT_LEAST, low * q, between, {}), domain=inside),
        replace(decide_claim(place * q, Relation.AT_MOST, high * q, between, {}), domain=inside),
    )


def _vacuous(argument: Argument, printed: sp.Expr) -> tuple[Equation, ...]:
    """Claim that the printed condition vanishes at the low end wherever f does."""
    theta, low = argument.theta, argument.law.low
    at_low = printed.subs(theta, low)
    zero = sp.Integer(0)
    return (replace(argument.claim(at_low, zero, where={f(low): zero}), domain=(SymbolRange(f(low), zero, zero),)),)
