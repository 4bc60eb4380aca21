"""The signs of long numbers, and of sums of roots, from balls."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra.decision._evidence import values_at
from smqopt.algebra.decision._work import MOST_ROOTS, degree_of_roots

_LONGEST_NUMBER = 20
"""Operations beyond which a number is long."""


def with_signs_of_roots(expression: sp.Expr) -> sp.Expr:
    """Put a symbol of its sign for each sum of numbers with many roots.

    SymPy looks for the polynomial of such a sum, whose degree is the product of the roots', in few
    calls that may take for ever.
    """
    if not expression.args:
        return expression
    if expression.is_Add and expression.is_number and degree_of_roots(expression) > MOST_ROOTS:
        return _letter(expression)
    parts = [with_signs_of_roots(part) for part in expression.args]
    unchanged = all(new is old for new, old in zip(parts, expression.args, strict=True))
    return expression if unchanged else expression.func(*parts)


def with_named_numbers(expression: sp.Expr) -> sp.Expr:
    """Put a letter of its sign for each long number, the same where it stands again.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> number = sum(sp.exp(-k) for k in range(9))
    >>> with_named_numbers(x * (x + number) - number * x).expand()
    x**2
    """
    letters: dict[sp.Expr, sp.Expr] = {}

    def visit(part: sp.Expr) -> sp.Expr:
        if part.is_number:
            if part.count_ops() <= _LONGEST_NUMBER:
                return part
            factor, rest = part.as_coeff_Mul()
            if factor != 1 or rest.could_extract_minus_sign():
                return factor * visit(rest) if factor != 1 else -visit(-rest)
            if part not in letters:
                letters[part] = _letter(part)
            return letters[part]
        parts = list(part.args)
        if part.is_Add or part.is_Mul:
            number, rest = part.as_independent(*part.free_symbols, as_Add=part.is_Add)
            parts = [number, *part.func.make_args(rest)]
        return part.func(*map(visit, parts)) if parts else part

    return visit(expression)


def _letter(number: sp.Expr) -> sp.Dummy:
    """Return a letter of which the sign of a number is known, if that is."""
    value = values_at(number, [{}])[0]
    known = {"positive": True} if value > 0 else {"negative": True} if value < 0 else {"real": True}
    return sp.Dummy(**known)
