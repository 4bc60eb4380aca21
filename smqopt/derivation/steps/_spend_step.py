"""Spend as a function of the threshold: the change of variables."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from smqopt.algebra import (
    ACCEPTS,
    DENSE,
    SPEND,
    SPEND_CURVE,
    THRESHOLD_OF_SPEND,
    Equation,
    F,
    J,
    Relation,
    SymbolRange,
    f,
    follows,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def spend_from_threshold(argument: Argument) -> Step:
    """Check that b = θF(θ) maps the support one to one, with its inverse."""
    theta, change = argument.theta, argument.change
    (low, high), (least, most) = change.domain, change.range
    claims = [
        argument.claim(theta * F(theta), change.image),
        argument.claim(low * F(low), least),
        argument.claim(high * F(high), most),
        argument.claim(sp.Derivative(theta * F(theta), theta), change.slope, every_law=True),
        argument.claim(change.slope, f(theta) * J(theta), every_law=True),
        follows(change.sign * change.slope, Relation.AT_LEAST, F(theta), ACCEPTS, DENSE),
    ]
    return Step(
        name="spend",
        title="Spend as a function of the threshold",
        claim=f"Spend b = θF(θ) is a change of variables: its domain is the support, its range the interval from {_word(least)} to "
        f"{_word(most, argument)}, and its derivative F + θf is at least F, so {'positive' if change.sign > 0 else 'negative'} within "
        "the support. So it is strictly monotone and onto, and each spend belongs to one threshold.",
        reason="Differentiate the product; F > 0 within the support and f ≥ 0, so spend rises even where the density vanishes. A continuous "
        "function that rises strictly takes every value between those at the ends, once.",
        labels=("OP2", "Appendix D"),
        equations=(
            Equation(SPEND_CURVE(theta), Relation.DEFINED, theta * F(theta), every_law=True),
            *claims,
            *_inverse(argument),
        ),
        note=_note(argument),
    )


def _inverse(argument: Argument) -> tuple[Equation, ...]:
    theta, change = argument.theta, argument.change
    if change.inverse is None:
        return ()
    special = argument.fix({} if change.low is None else {argument.law.low: change.low})
    inverse, there = THRESHOLD_OF_SPEND(SPEND), SPEND_CURVE(theta)
    known = special.change.inverse
    image, most = special.change.image, special.change.range[1]
    assert known is not None  # noqa: S101 - it was just there
    at_low = () if change.low is None else (SymbolRange(argument.law.low, change.low, change.low),)
    claims = (
        Equation(inverse, Relation.DEFINED, change.inverse),
        special.claim(
            SPEND_CURVE(inverse),
            SPEND,
            domain=special.domain.with_intervals(SymbolRange(SPEND, sp.Integer(0), most)),
            where={SPEND_CURVE(inverse): image.subs(special.theta, known)},
        ),
        special.claim(THRESHOLD_OF_SPEND(there), theta, where={THRESHOLD_OF_SPEND(there): known.subs(SPEND, image)}),
    )
    return tuple(replace(claim, domain=(*at_low, *claim.domain)) for claim in claims)


def _note(argument: Argument) -> str:
    change = argument.change
    if change.inverse is None:
        return (
            "The inverse has no closed form: θF(θ) = b is neither a power of θ nor of degree ≤ 2 in it. Nothing below needs "
            "one; it exists, as spend rises."
        )
    return (
        "" if change.low is None else f"The closed form of the inverse holds where the support begins at {change.low}."
    )


def _word(end: sp.Expr, argument: Argument | None = None) -> str:
    """Name an end of the range in words."""
    return "the high end of the support" if argument is not None and end == argument.law.high else str(end)
