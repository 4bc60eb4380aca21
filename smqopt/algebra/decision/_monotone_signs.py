"""The sign of an expression by functions that rise.

E^a − e^b has the sign of a − b, and so have powers, logarithms and integrals.

Expressions are given in coordinates whose signs SymPy knows. What the rules do not reach has no
sign; no answer is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from smqopt.algebra.expression._rational_part import factor_fraction

_DEEPEST = 12
"""Differences are taken apart this often at most."""
_LARGEST = 200
"""Operations beyond which an expression is not looked at."""


def sign(expression: sp.Expr, depth: int = 0) -> int | None:
    """Return 1, 0 or −1 where that sign is shown; None where nothing is.

    Examples
    --------
    >>> a, b = sp.symbols("a b", positive=True)
    >>> sign(1 - sp.exp(-a)), sign(a**b - (a + 1) ** b), sign(a - b)
    (1, -1, None)
    """
    if expression.is_zero:
        return 0
    if expression.is_positive:
        return 1
    if expression.is_negative:
        return -1
    if depth > _DEEPEST or sp.count_ops(expression) > _LARGEST:
        return None
    if expression.is_Mul:
        return _of_product(expression.args, depth)
    if expression.is_Pow and expression.base is not sp.E:
        below = sign(expression.base, depth + 1)
        if below == 1 or (below == -1 and expression.exp.is_even):
            return 1
        return below if below == -1 and expression.exp.is_odd else None
    if isinstance(expression, sp.beta):
        return 1 if all(shape.is_positive for shape in expression.args) else None
    if isinstance(expression, sp.log):
        return sign(expression.args[0] - 1, depth + 1)
    return _of_sum(expression, depth) if expression.is_Add else None


def _of_product(factors: tuple[sp.Expr, ...], depth: int) -> int | None:
    product = 1
    for factor in factors:
        found = sign(factor, depth + 1)
        if found is None:
            return None
        product *= found
    return product


def _of_sum(total: sp.Expr, depth: int) -> int | None:
    """Seek a common factor, then a difference of values of a rising function."""
    for rewrite in (sp.factor_terms, factor_fraction, _over_one_denominator):
        form = rewrite(total)
        if form != total and not form.is_Add:
            return sign(form, depth + 1)
    constant, rest = total.as_coeff_Add()
    factor, function = rest.as_coeff_Mul()
    if isinstance(function, sp.erf | sp.tanh) and constant >= abs(factor):
        return 1  # as they lie between −1 and 1
    signs = {sign(term, depth + 1) for term in total.args}
    if signs == {1} or signs == {-1}:
        return signs.pop()
    if len(total.args) == 2:
        for difference, direction in _inner_differences(total.args[0], total.args[1], depth):
            found = sign(difference, depth + 1)
            if found is not None:
                return direction * found
    expanded = sp.expand(sp.expand_log(total))
    return sign(expanded, depth + 1) if expanded != total and not expanded.is_zero else None


def _over_one_denominator(total: sp.Expr) -> sp.Expr:
    numerator, denominator = sp.fraction(sp.together(total))
    return sp.Mul(sp.factor_terms(sp.expand(numerator)), 1 / denominator, evaluate=False) if denominator != 1 else total


def _inner_differences(first: sp.Expr, second: sp.Expr, depth: int) -> Iterator[tuple[sp.Expr, int]]:
    """Return (p − q, ±1) where the sum is ±c(g(p) − g(q)), c > 0 and g rising."""
    for positive, negative in ((first, second), (second, first)):
        factor, subtracted = (-negative).as_coeff_Mul()
        other_factor, kept = positive.as_coeff_Mul()
        if factor <= 0 or other_factor <= 0:
            continue
        if factor == other_factor:
            yield from _of_two_values(kept, subtracted, depth)
        if kept.is_positive and subtracted.is_positive and (kept != 1 or subtracted != 1):
            yield _logarithm(positive) - _logarithm(-negative), 1


def _of_two_values(kept: sp.Expr, subtracted: sp.Expr, depth: int) -> Iterator[tuple[sp.Expr, int]]:
    for function in (sp.erf, sp.log, sp.tanh, sp.sinh, sp.atan):
        if isinstance(kept, function) and isinstance(subtracted, function):
            yield kept.args[0] - subtracted.args[0], 1
    if isinstance(kept, sp.lowergamma) and isinstance(subtracted, sp.lowergamma) and kept.args[0] == subtracted.args[0]:
        yield kept.args[1] - subtracted.args[1], 1
    for exponent in _exponents(kept) | _exponents(subtracted):
        one, other = (_base(value, exponent) for value in (kept, subtracted))
        direction = 1 if exponent.is_positive else -1 if exponent.is_negative else None
        if direction is None or one is None or other is None:
            continue
        if sign(one, depth + 1) == 1 and sign(other, depth + 1) == 1:
            yield one - other, direction


def _exponents(value: sp.Expr) -> set[sp.Expr]:
    powers = [factor.as_base_exp() for factor in sp.Mul.make_args(value)]
    return {exponent for base, exponent in powers if base is not sp.E and exponent != 1}


def _base(value: sp.Expr, exponent: sp.Expr) -> sp.Expr | None:
    """Return b where a value is written b^exponent."""
    inner = sp.Integer(1)
    for factor in sp.Mul.make_args(value):
        base, power = factor.as_base_exp()
        if factor == 1:
            continue
        if power != exponent:
            return None
        inner *= base
    return inner


def _logarithm(value: sp.Expr) -> sp.Expr:
    return sp.expand_log(sp.log(value), force=True)
