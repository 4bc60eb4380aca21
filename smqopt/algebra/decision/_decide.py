"""Decisions on claims: exact algebra, and balls at random rational points.

What neither settles is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from smqopt.algebra.claim._equation import Equation, Relation, Verdict
from smqopt.algebra.claim._letters import F, J, f
from smqopt.algebra.decision._domain import Domain
from smqopt.algebra.decision._evidence import evidence
from smqopt.algebra.decision._reduction import is_never_negative, vanishes

Meaning = Mapping[type[sp.Function], Callable[[sp.Expr], sp.Expr]]
"""What the functions F, f, J and θ* stand for: each gives an expression for its argument."""

NO_REDUCTION = "no exact reduction was found; "
"""How the method of a claim begins that only evaluation speaks of."""

_T = sp.Dummy("t", nonnegative=True)
EVERY_LAW: Meaning = {J: sp.Lambda(_T, _T + F(_T) / f(_T)), f: sp.Lambda(_T, sp.Derivative(F(_T), _T))}
"""f = F′ and J = θ + F/f with F left open: what is shown so holds for every law that has a density.
"""


def decide_claim(
    left: sp.Expr, relation: Relation, right: sp.Expr, domain: Domain, law: Meaning, *, every_law: bool = False
) -> Equation:
    """Check a claim and give it with its verdict.

    Proved means that left − right reduces to 0 exactly (or, for an inequality, to terms that are
    never negative) and that no evaluation contradicts it. Refuted means that at some point a ball
    shows that it fails.

    Parameters
    ----------
    left, relation, right
        The claim.
    domain
        Where it must hold.
    law
        What F, f, J and θ* stand for.
    every_law
        Whether to try a proof with F left open first.
    """
    found = evidence(_spell_out(left, law), relation, _spell_out(right, law), domain)
    if found.contradiction:
        return Equation(left, relation, right, Verdict.REFUTED, found.contradiction)
    surplus = right - left if relation is Relation.AT_MOST else left - right
    for meaning, scope in ((EVERY_LAW, " with F left open"), (law, ""))[0 if every_law else 1 :]:
        residual = _spell_out(surplus, meaning)
        if relation is Relation.EQUAL and vanishes(residual, domain):
            method = f"left − right reduces to 0{scope}; {found}"
            return Equation(left, relation, right, Verdict.PROVED, method, found.points)
        if relation is not Relation.EQUAL and is_never_negative(residual, domain):
            method = f"the difference is never negative, by the signs of its terms{scope}; {found}"
            return Equation(left, relation, right, Verdict.PROVED, method, found.points)
    return Equation(left, relation, right, Verdict.UNDECIDED, NO_REDUCTION + str(found), found.points)


def _spell_out(expression: sp.Expr, meaning: Meaning) -> sp.Expr:
    """Put meanings in the place of functions, and carry out derivatives.

    Sums over owners stay.
    """
    for function, formula in meaning.items():
        if expression.has(function):
            expression = expression.replace(function, formula)
    return expression.replace(sp.Derivative, sp.diff)
