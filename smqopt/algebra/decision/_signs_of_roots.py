"""The signs of sums of roots, from balls."""

from __future__ import annotations

import math

import sympy as sp

from smqopt.algebra.decision._evidence import values_at

_MOST_ROOTS = 64
"""Degree of a sum of roots beyond which SymPy is not asked for its sign."""


def with_signs_of_roots(expression: sp.Expr) -> sp.Expr:
    """Put a symbol of its sign for each sum of numbers with many roots.

    SymPy looks for the polynomial of such a sum, whose degree is the product of the roots', in few
    calls that may take for ever.
    """
    if not expression.args:
        return expression
    if expression.is_Add and expression.is_number and _degree_of_roots(expression) > _MOST_ROOTS:
        value = values_at(expression, [{}])[0]
        known = {"positive": True} if value > 0 else {"negative": True} if value < 0 else {}
        return sp.Dummy(**known)
    parts = [with_signs_of_roots(part) for part in expression.args]
    unchanged = all(new is old for new, old in zip(parts, expression.args, strict=True))
    return expression if unchanged else expression.func(*parts)


def _degree_of_roots(number: sp.Expr) -> int:
    """Multiply the degrees of the different roots in a number."""
    return math.prod({power: power.exp.q for power in number.atoms(sp.Pow) if power.exp.is_Rational}.values())
