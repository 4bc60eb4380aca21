"""Regularity: whether the virtual cost is non-decreasing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import sympy as sp

from smqopt.algebra import Equation, F, J, Relation, Unknown, Verdict, f, has_long_powers, shortest
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.statement._step import Step
from smqopt.valuation import LawFormulas, Regular, decide_pieces, density_does_not_rise


def regularity(argument: Argument) -> Step:
    """Check J′ ≥ 0 for all parameters, and J where pieces of the law meet."""
    has_gap = any(piece.law.is_gap for piece in argument.pieces)  # where J is infinite, and has no slope
    claims = not_falling(argument)
    if not has_gap and _adds(slope := _slope(argument), claims):
        claims = (slope, *claims)
    claims = (_slope_of_every_law(argument),) if argument.is_general else claims
    return Step(
        name="regularity",
        title="Regularity",
        claim="The virtual cost is non-decreasing on the support. This, not a monotone hazard rate f/(1 − F), makes acceptance "
        "concave in spend, and OP2 a convex program.",
        reason="The sign of J′ = 2 − F f′/f².",
        labels=("A2", "Appendix D", "E1"),
        equations=claims,
    )


def _adds(slope: Equation, claims: tuple[Equation, ...]) -> bool:
    """Tell whether what J′ is may be said: an open formula leaves no shown sign open."""
    return slope.verdict is not Verdict.UNDECIDED or any(each.verdict is not Verdict.PROVED for each in claims)


def _slope_of_every_law(argument: Argument) -> Equation:
    """Claim J′ = 2 − F f′/f², with F left open."""
    theta = argument.theta
    slope = 2 - F(theta) * sp.Derivative(f(theta), theta) / f(theta) ** 2
    found = argument.claim(sp.Derivative(J(theta), theta), slope, every_law=True)
    return replace(found, every_law=True)


def _slope(argument: Argument) -> Equation:
    """Claim what J′ is, as 2 − (J − θ) f′/f where that is shorter."""
    theta, cost, slope = argument.theta, argument.virtual_cost, sp.Derivative(J(argument.theta), argument.theta)
    if argument.pieces:
        found = argument.claim(slope, _slope_by_cases(cost, theta))
        return (
            found
            if found.verdict is Verdict.PROVED
            else argument.claim(slope, _slope_by_cases(cost, theta, lambda case: case))
        )
    formula = shortest(sp.diff(cost, theta))
    rent = cost - theta
    rent = rent if has_long_powers(rent) else min(rent, sp.expand(rent), key=sp.count_ops)
    by_density = 2 - rent * _slope_of_log(argument.law.pdf, theta)
    if sp.count_ops(by_density) < _SHORTER * sp.count_ops(formula):
        found = argument.claim(slope, by_density)
        if found.verdict is Verdict.PROVED:
            return found
    found = argument.claim(slope, formula)
    return found if found.verdict is Verdict.PROVED else argument.claim(slope, sp.diff(cost, theta))


def _slope_by_cases(cost: sp.Expr, theta: sp.Symbol, form: Callable[[sp.Expr], sp.Expr] = shortest) -> sp.Expr:
    """Differentiate case by case; neighbours with one slope are one case."""
    if not isinstance(cost, sp.Piecewise):
        return sp.diff(cost, theta)
    cases: list[tuple[sp.Expr, sp.Basic]] = []
    for case, condition in cost.args:
        slope = form(sp.diff(case, theta))
        if cases and cases[-1][0] == slope:
            cases.pop()
        cases.append((slope, condition))
    return cases[0][0] if len(cases) == 1 else sp.Piecewise(*cases, evaluate=False)


_SHORTER = 0.75
"""How much shorter a form must be to be preferred to the derivative itself."""


def _slope_of_log(density: sp.Expr, theta: sp.Symbol) -> sp.Expr:
    """Compute f′/f, factor by factor of f."""
    whole: sp.Expr = sp.Integer(0)
    for factor in sp.Mul.make_args(density):
        base, exponent = factor.as_base_exp()
        rate = sp.diff(base, theta) / base
        rate = sp.cancel(sp.together(rate)) if rate.is_rational_function(theta) else rate
        whole += exponent * rate + sp.diff(exponent, theta) * sp.log(base)
    return whole


def not_falling(argument: Argument) -> tuple[Equation, ...]:
    """Claim that J falls neither within the support nor where pieces meet."""
    slope = sp.Derivative(J(argument.theta), argument.theta)
    rising = argument.claim(slope, sp.Integer(0), Relation.AT_LEAST, proof=_rise)
    return (rising, *_joints(argument))


def _rise(law: LawFormulas) -> str | Unknown | None:
    """Ask what decides the regularity of laws in numbers."""
    if law.parameters:
        return None
    found, sign_is_open = decide_pieces((law,))
    return found.method if isinstance(found, Regular) else Unknown(found.method) if sign_is_open else None


_INFINITE = "f falls to 0 there from above, and F > 0: J is infinite beyond"
_NO_RISE = "F has no jump there, and f does not rise"


def _is_infinite(piece: Argument) -> bool:
    """Tell whether J grows without bound towards the end of a piece."""
    return piece.law.is_gap or piece.limit(piece.law.high, sp.oo).verdict is Verdict.PROVED


def _shown(_: LawFormulas) -> str:
    return _NO_RISE


def _joints(argument: Argument) -> tuple[Equation, ...]:
    """Claim that J does not fall from one piece of the law to the next."""
    claims = []
    for before, after in pairwise(argument.pieces):
        joint = before.law.high
        below, above = (sp.Limit(J(argument.theta), argument.theta, joint, side) for side in "-+")
        if after.law.is_gap:
            continue  # J rises to infinity
        known = before.cost_at_high, after.cost_at_low
        if known[1] == sp.oo and after.limit(joint, sp.oo).verdict is Verdict.PROVED:
            claims.append(Equation(above, Relation.AT_LEAST, below, Verdict.PROVED, _INFINITE))
            continue
        if known[0] == sp.oo and known[1] not in (None, sp.oo) and _is_infinite(before):
            why = f"F is flat from {before.law.low} to {joint}" if before.law.is_gap else "f falls to 0 before it"
            method = f"{why}: J is infinite there, and finite beyond"
            claims.append(Equation(above, Relation.AT_LEAST, below, Verdict.REFUTED, method))
            continue
        is_shown = not before.law.parameters and density_does_not_rise(before.law, after.law)
        if None not in known and sp.oo not in known:
            values = dict(zip((below, above), known, strict=True))
            proof = _shown if is_shown else None
            claims.append(argument.claim(above, below, Relation.AT_LEAST, where=values, proof=proof))
        elif is_shown:
            claims.append(Equation(above, Relation.AT_LEAST, below, Verdict.PROVED, _NO_RISE))
        else:
            claims.append(Equation(above, Relation.AT_LEAST, below, Verdict.UNDECIDED, "J has no limit at hand there"))
    return tuple(claims)
