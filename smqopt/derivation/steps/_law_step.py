"""The law of valuations and its support."""

from __future__ import annotations

from itertools import pairwise

import sympy as sp

from smqopt.algebra import Equation, F, Relation, f
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step


def law_and_support(argument: Argument) -> Step:
    """Check that F rises from 0 to 1 on the support, and that f is its derivative."""
    law, theta = argument.law, argument.theta
    return Step(
        name="law",
        title="Law and support",
        claim="The valuation of owner i has a distribution function that rises from 0 at the low end of its support to 1 at "
        "the high end, with density f = F′ ≥ 0.",
        reason="Substitute the ends of the support, and differentiate.",
        labels=("A1", "A2"),
        equations=(
            Equation(F(theta), Relation.DEFINED, law.cdf),
            Equation(f(theta), Relation.DEFINED, law.pdf),
            argument.claim(F(law.low), sp.Integer(0)),
            argument.claim(F(law.high), sp.Integer(1)),
            *_joints(argument),
            argument.claim(sp.Derivative(F(theta), theta), f(theta)),
            argument.claim(f(theta), sp.Integer(0), Relation.AT_LEAST),
        ),
    )


def _joints(argument: Argument) -> tuple[Equation, ...]:
    """Claim that F has no jump where pieces of the law meet."""
    claims = []
    for before, after in pairwise(argument.pieces):
        below, above = (part.put_in(F(end), end) for part, end in ((before, before.law.high), (after, after.law.low)))
        claims.append(argument.claim(F(before.law.high), above, where={F(before.law.high): below}))
    return tuple(claims)
