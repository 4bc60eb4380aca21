"""Which functions might be inverted by a formula, by their looks.

Elsewhere nobody waits for a derivation to find that out.
"""

from __future__ import annotations

import sympy as sp

LONGEST = 60
"""Operations beyond which no formula is looked for."""
LONGEST_NUMBER = 60
"""Numerator or denominator of a number in an exponent."""
HIGHEST = 4
"""Degree up to which polynomial equations have solutions in radicals."""


def might_be_inverted(function: sp.Expr, x: sp.Symbol) -> bool:
    """Tell whether a function is of a kind that has an inverse in closed form.

    True promises nothing.

    Kinds are quotients of polynomials, also in roots of x, with a numerator of degree 4 at most or
    of one term; sums of such with one exponential of a linear function and of constant weight
    (Lambert's W); and functions with logarithms alone.

    Examples
    --------
    >>> t, a = sp.symbols("t a", positive=True)
    >>> [might_be_inverted(f, t) for f in (t + t / a, t + (sp.exp(a * t) - 1) / a, t + t**5, t + sp.sin(t), t + t**a)]
    [True, True, False, False, False]
    """
    if sp.count_ops(function) > LONGEST:
        return False
    varying = {part for part in function.atoms(sp.Function, sp.Pow) if part.has(x)}
    if any(part.is_Pow and not part.exp.is_Rational and part.base is not sp.E for part in varying):
        return False
    if has_long_exponents(function, x):
        return False
    called = {part for part in varying if not part.is_Pow}
    if not called:
        return _is_of_low_degree(function, x)
    if all(isinstance(part, sp.log) for part in called):
        return True
    if len(called) > 1 or not isinstance(part := called.pop(), sp.exp):
        return False
    weight = sp.expand(function).coeff(part)
    rest = sp.expand(function - weight * part)
    linear = part.exp.is_polynomial(x) and sp.degree(part.exp, x) == 1
    return bool(linear and not weight.has(x) and not rest.has(sp.exp) and _is_of_low_degree(rest, x))


def has_long_exponents(expression: sp.Expr, x: sp.Symbol) -> bool:
    """Tell whether long numbers stand in exponents.

    X^(p/q) is a p-th power of x^(1/q), and SymPy may multiply out.

    Examples
    --------
    >>> t = sp.Symbol("t", positive=True)
    >>> has_long_exponents(t ** sp.Rational(57, 200), t), has_long_exponents(sp.exp(-3 * t), t)
    (True, False)
    """
    varying = {part for part in expression.atoms(sp.exp, sp.Pow) if part.has(x)}
    numbers = {number for part in varying for number in _exponent(part).atoms(sp.Rational)}
    return any(max(abs(number.p), number.q) > LONGEST_NUMBER for number in numbers)


def _exponent(part: sp.Expr) -> sp.Expr:
    return part.exp if part.is_Pow or isinstance(part, sp.exp) else sp.Integer(1)


def _is_of_low_degree(function: sp.Expr, x: sp.Symbol) -> bool:
    numerator, _ = sp.fraction(sp.together(function))
    if not numerator.is_polynomial(x):
        return True  # roots: an equation in them may be of low degree
    equation = sp.Poly(numerator, x)
    return bool(equation.degree() <= HIGHEST or len(equation.terms()) == 1)
