"""A posted threshold is truthful, and nobody loses by it."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import (
    ALLOCATION,
    CLIPPED_THRESHOLD,
    PAYMENT,
    REPORT,
    UTILITY,
    VARIABLE,
    Domain,
    Equation,
    Relation,
    SymbolRange,
    decide_claim,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._integration import by_cases
from smqopt.derivation.statement._step import Step

_SIDES = (True, False)
"""A report or a valuation is at most the threshold, or above it."""


def incentives(argument: Argument) -> Step:
    """Check the payment, utility and regret on both sides of the threshold."""
    theta, high, rule = argument.theta, argument.law.high, argument.posted
    star, zero = CLIPPED_THRESHOLD, sp.Integer(0)
    sells = sp.Le(REPORT, star, evaluate=False)
    allocation = sp.Piecewise((rule.sold, sells), (rule.unsold, True), evaluate=False)
    payment = sp.Piecewise((rule.paid, sells), (rule.unpaid, True), evaluate=False)
    utility = sp.Piecewise(
        (rule.utility(theta, sells=True), sells), (rule.utility(theta, sells=False), True), evaluate=False
    )
    by_formula = REPORT * ALLOCATION(REPORT) + sp.Integral(ALLOCATION(VARIABLE), (VARIABLE, REPORT, high))
    truthful = sp.Le(theta, star, evaluate=False)
    surplus = sp.Piecewise(
        (rule.utility(theta, sells=True), truthful), (rule.utility(theta, sells=False), True), evaluate=False
    )
    regrets = [_regret(argument, own=own, reported=reported) for own in _SIDES for reported in _SIDES]
    return Step(
        name="incentives",
        title="Truthfulness and participation",
        claim="With a threshold that does not depend on her report, an owner does best to report her valuation, whatever the others do, "
        "and never loses by taking part. She is paid the threshold where she sells, else nothing.",
        reason="Four cases: valuation and report are each at most the threshold, or above it. Her report decides only whether she sells, "
        "and she wants to sell just where θ ≤ θ*. The payment is the report and the integral of the allocation beyond it, which is θ* − ψ below the threshold.",
        labels=("qi", "pi", "eqn:IC", "eqn:IR", "lem:IC&IR", "eqn:payment"),
        equations=(
            Equation(ALLOCATION(REPORT), Relation.DEFINED, allocation),
            Equation(PAYMENT(REPORT), Relation.DEFINED, by_formula),
            by_cases(PAYMENT(REPORT), Relation.EQUAL, payment, _payments(argument)),
            Equation(UTILITY(REPORT, theta), Relation.DEFINED, utility),
            by_cases(
                surplus,
                Relation.AT_LEAST,
                zero,
                [
                    decide_claim(
                        rule.utility(theta, sells=side),
                        Relation.AT_LEAST,
                        zero,
                        _place(argument, theta, sells=side),
                        {},
                    )
                    for side in _SIDES
                ],
            ),
            by_cases(UTILITY(theta, theta) - UTILITY(REPORT, theta), Relation.AT_LEAST, zero, regrets),
        ),
    )


def _payments(argument: Argument) -> list[Equation]:
    """Return ψQ(ψ) + ∫_ψ^high Q on both sides of the threshold."""
    rule, high, star = argument.posted, argument.law.high, CLIPPED_THRESHOLD
    below = REPORT * rule.sold + (star - REPORT) * rule.sold + (high - star) * rule.unsold
    above = REPORT * rule.unsold + (high - REPORT) * rule.unsold
    return [
        decide_claim(below, Relation.EQUAL, rule.paid, _place(argument, REPORT, sells=True), {}),
        decide_claim(above, Relation.EQUAL, rule.unpaid, _place(argument, REPORT, sells=False), {}),
    ]


def _regret(argument: Argument, *, own: bool, reported: bool) -> Equation:
    """Claim that truth is no worse than any report."""
    theta, rule = argument.theta, argument.posted
    regret = rule.utility(theta, sells=own) - rule.utility(theta, sells=reported)
    return decide_claim(regret, Relation.AT_LEAST, sp.Integer(0), _place(argument, theta, sells=own), {})


def _place(argument: Argument, symbol: sp.Symbol, *, sells: bool) -> Domain:
    """Put the threshold into the support, and a valuation or report on one side of it."""
    low, high, star = argument.law.low, argument.law.high, CLIPPED_THRESHOLD
    side = SymbolRange(symbol, low, star) if sells else SymbolRange(symbol, star, high)
    kept = SymbolRange(argument.theta, low, high)
    intervals = (
        (SymbolRange(star, low, high), side) if symbol == argument.theta else (kept, SymbolRange(star, low, high), side)
    )
    return argument.domain.with_intervals(*intervals)
