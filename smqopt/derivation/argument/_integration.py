"""Integrals checked by an antiderivative and its values at the ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from smqopt.algebra import Equation, Relation, Verdict, worst

if TYPE_CHECKING:
    from smqopt.algebra import Domain
    from smqopt.derivation.argument._argument import Argument


def integral_claims(
    argument: Argument, integral: sp.Integral, antiderivative: sp.Expr, value: sp.Expr, domain: Domain | None = None
) -> tuple[Equation, Equation]:
    """Claim that the antiderivative is one, and that the integral has the value.

    Parameters
    ----------
    argument
        What F, f and J stand for.
    integral
        ∫ g over an interval within the support.
    antiderivative
        G in the variable of the integral, continuous up to the ends.
    value
        What the integral is claimed to be.
    domain
        Where both are claimed.
    """
    variable, lower, upper = integral.limits[0]
    ends = antiderivative.subs(variable, upper) - antiderivative.subs(variable, lower)
    derivative = argument.claim(
        sp.Derivative(antiderivative, variable), integral.function, every_law=True, domain=domain
    )
    total = argument.claim(integral, value, where={integral: ends}, domain=domain)
    return derivative, replace(total, method=f"with the antiderivative of the line above, {total.method}")


def by_cases(left: sp.Expr, relation: Relation, right: sp.Expr, cases: Sequence[Equation]) -> Equation:
    """Join cases into one statement, with the worst of their verdicts."""
    verdict = worst([case.verdict for case in cases if case.verdict is not None])
    methods = dict.fromkeys(
        case.method for case in cases if verdict is Verdict.PROVED or case.verdict is not Verdict.PROVED
    )
    points = min(case.points for case in cases)
    return Equation(left, relation, right, verdict, f"{len(cases)} cases: {'; '.join(methods)}", points)
