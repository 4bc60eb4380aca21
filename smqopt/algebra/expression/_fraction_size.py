"""Bounds on the size of an expression written as one fraction."""

from __future__ import annotations

import math
from collections.abc import Set

import sympy as sp


def fraction_size(expression: sp.Expr, symbols: Set[sp.Symbol]) -> tuple[float, float]:
    """Bound the degrees of numerator and denominator, in the given symbols together.

    Infinite where the expression is no rational function of them.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> fraction_size((1 + x) ** 900 / x + 1, {x})
    (900, 1)
    """
    if not expression.free_symbols & symbols:
        return 0, 0
    if expression in symbols:
        return 1, 0
    parts = [fraction_size(argument, symbols) for argument in expression.args]
    if any(math.inf in part for part in parts):
        return math.inf, math.inf
    if expression.is_Mul:
        return sum(top for top, _ in parts), sum(bottom for _, bottom in parts)
    if expression.is_Add:
        bottom = sum(b for _, b in parts)
        return max(top + bottom - b for top, b in parts), bottom
    if expression.is_Pow and expression.exp.is_Integer:
        exponent = int(expression.exp)
        top, bottom = parts[0] if exponent > 0 else parts[0][::-1]
        return abs(exponent) * top, abs(exponent) * bottom
    return math.inf, math.inf
