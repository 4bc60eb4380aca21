"""Decisions on claims: exact algebra, and balls at random rational points.

What neither settles is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import sympy as sp

from smqopt.algebra.claim._equation import Equation, Relation, Verdict
from smqopt.algebra.claim._letters import F, J, f
from smqopt.algebra.decision._domain import Domain
from smqopt.algebra.decision._evidence import evidence, values_at
from smqopt.algebra.decision._reduction import is_never_negative, vanishes
from smqopt.algebra.decision._sign import Negative, Nonnegative, Sign, Unknown, sign_on
from smqopt.algebra.decision._work import ran_short, remember

Meaning = Mapping[type[sp.Function], Callable[[sp.Expr], sp.Expr]]
"""What the functions F, f, J and θ* stand for: each gives an expression for its argument."""

NO_REDUCTION = "no exact reduction was found; "
"""How the method of a claim begins that only evaluation speaks of."""
OUT_OF_WORK = "not reduced within the limit of work; "
"""And where the limit was met before."""

_T = sp.Dummy("t", nonnegative=True)
EVERY_LAW: Meaning = {J: sp.Lambda(_T, _T + F(_T) / f(_T)), f: sp.Lambda(_T, sp.Derivative(F(_T), _T))}
"""f = F′ and J = θ + F/f with F left open: what is shown so holds for every law that has a density.
"""


def decide_claim(
    left: sp.Expr,
    relation: Relation,
    right: sp.Expr,
    domain: Domain,
    law: Meaning,
    *,
    every_law: bool = False,
    example: bool = False,
    proof: Callable[[], str | Unknown | None] | None = None,
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
    example
        Whether the law is but an example for evaluation, so that F must be left open.
    proof
        What is tried first: gives the method by which the claim is shown, None, or `Unknown` where
        it has asked for the sign in vain, so that balls are not asked again.
    """
    found = evidence(_spell_out(left, law), relation, _spell_out(right, law), domain)
    if found.contradiction:
        return Equation(left, relation, right, Verdict.REFUTED, found.contradiction)
    method = None if proof is None else proof()
    if isinstance(method, str):
        return Equation(left, relation, right, Verdict.PROVED, f"{method}; {found}", found.points)
    surplus = right - left if relation is Relation.AT_MOST else left - right
    scopes = ((EVERY_LAW, " with F left open"), (law, ""))
    for meaning, scope in scopes[:1] if example else scopes if every_law else scopes[1:]:
        residual = _spell_out(surplus, meaning)
        if relation is Relation.EQUAL and vanishes(residual, domain):
            method = f"left − right reduces to 0{scope}; {found}"
            return Equation(left, relation, right, Verdict.PROVED, method, found.points, every_law=bool(scope))
        if relation is not Relation.EQUAL:
            sign = decide_sign(residual, domain) if method is None else _by_terms(residual, domain, method)
            if isinstance(sign, Nonnegative):
                method = f"the difference is never negative, by {sign.method}{scope}; {found}"
                return Equation(left, relation, right, Verdict.PROVED, method, found.points, every_law=bool(scope))
            if isinstance(sign, Negative) and not scope:
                where = f"the difference is negative at {float(sign.point)!r}, by {sign.method}"
                return Equation(left, relation, right, Verdict.REFUTED, where)
    why = OUT_OF_WORK if ran_short() else NO_REDUCTION
    return Equation(left, relation, right, Verdict.UNDECIDED, why + str(found), found.points)


@remember
def decide_sign(expression: sp.Expr, domain: Domain) -> Sign:
    """Decide whether an expression is ≥ 0 all over a domain.

    Where one symbol is left, between rational ends, by roots counted exactly, or in ball arithmetic
    where algebra ends; else for all parameters at once, by the signs of symbols.
    """
    if not expression.free_symbols and values_at(expression, [{}])[0] > 0:
        return Nonnegative("ball arithmetic")
    return _by_terms(expression, domain, _on_interval(expression, domain))


def _by_terms(expression: sp.Expr, domain: Domain, found: Sign) -> Sign:
    """Return what was found, or where that is open what the signs of symbols give."""
    if isinstance(found, Unknown) and is_never_negative(expression, domain):
        return Nonnegative("the signs of its terms")
    return found


def _on_interval(expression: sp.Expr, domain: Domain) -> Sign:
    held = [interval for interval in domain.intervals if expression.has(interval.symbol)]
    if len(held) != 1 or expression.free_symbols != {held[0].symbol} or expression.has(sp.nan, sp.zoo, sp.oo):
        return Unknown("parameters are left")
    ends = [held[0].lower, held[0].upper]
    if not all(isinstance(end, sp.Rational) for end in ends):
        return Unknown("the ends are not rational")
    low, high = (Fraction(int(end.p), int(end.q)) for end in ends)
    try:
        return sign_on(expression, held[0].symbol, low, high)
    except ValueError:  # a function that balls do not know
        return Unknown("a function is not known to ball arithmetic")


def _spell_out(expression: sp.Expr, meaning: Meaning) -> sp.Expr:
    """Put meanings in the place of functions, and carry out derivatives.

    Sums over owners stay.
    """
    for function, formula in meaning.items():
        if expression.has(function):
            expression = expression.replace(function, formula)
    return expression.replace(sp.Derivative, sp.diff)
