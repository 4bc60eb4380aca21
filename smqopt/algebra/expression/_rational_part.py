"""Algebra with everything that is not rational taken as a letter of its own.

SymPy's polynomials take e^(54000 θ) for the 54000th power of e^θ, and θ^(1/999) for a root of which
θ is the 999th power; they can work on such a polynomial for ever. Here these are letters like any
other, with no relation between them.
"""

from __future__ import annotations

import sympy as sp

from smqopt.algebra.expression._fraction_size import fraction_size

MAX_OPERATIONS = 150
"""Larger expressions are not factored: it could take for ever."""
MAX_DEGREE = 60
"""Nor are rational functions of a higher degree, in all letters together, times the number of
letters."""


def factor_fraction(expression: sp.Expr) -> sp.Expr:
    """Cancel and factor a fraction; give it back as it is where that could take long.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> factor_fraction((1 - sp.exp(90000 * x)) ** 2 / (1 - sp.exp(90000 * x)) ** 3)
    -1/(exp(90000*x) - 1)
    """
    letters: dict[sp.Expr, sp.Symbol] = {}
    plain = _mask(expression, letters)
    if not _is_small(plain):
        return expression
    return sp.factor(sp.cancel(sp.together(plain))).xreplace({letter: part for part, letter in letters.items()})


def vanishes(number: sp.Expr) -> bool:
    """Say whether an expression is proved to be zero, by algebra alone.

    Examples
    --------
    >>> vanishes((sp.exp(2) - 1) ** 2 - sp.exp(2) ** 2 + 2 * sp.exp(2) - 1)
    False
    >>> vanishes((sp.exp(2) - 1) / (1 - sp.exp(2)) + 1)
    True
    """
    plain = _mask(number, {})
    if not _is_small(plain):
        return bool(number == 0)
    return bool(sp.expand(sp.fraction(sp.together(plain))[0]) == 0)


def _mask(expression: sp.Expr, letters: dict[sp.Expr, sp.Symbol]) -> sp.Expr:
    if expression.is_Symbol or expression.is_Rational:
        return expression
    if expression.is_Add or expression.is_Mul:
        return expression.func(*(_mask(part, letters) for part in expression.args))
    if expression.is_Pow and expression.exp.is_Integer:
        return _mask(expression.base, letters) ** expression.exp
    return letters.setdefault(expression, sp.Dummy())


def _is_small(plain: sp.Expr) -> bool:
    letters = plain.free_symbols
    degree = sum(fraction_size(plain, letters))
    return plain.count_ops() <= MAX_OPERATIONS and degree * len(letters) <= MAX_DEGREE
