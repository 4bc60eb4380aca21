"""Powers of numbers with long exponents, kept unevaluated.

SymPy works out c^(p/q) for a rational c at once, by the prime factors of c, and that takes for ever
where p and q are as long as those of a double. So such a power is written e^((p/q) exact_log(c)),
which it leaves alone, and the base of any other long power is given whole coefficients without a
common factor, so that none can be drawn out.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

LONGEST_ROOT = 64
"""Roots up to this order are left to SymPy."""


class exact_log(sp.Function):  # type: ignore[misc]  # noqa: N801
    """The logarithm of a positive number, which no simplification takes apart."""

    nargs = 1
    is_extended_real = True
    is_finite = True

    @classmethod
    def eval(cls, number: sp.Expr) -> sp.Expr | None:
        return -cls(1 / number) if number.is_Rational and 0 < number < 1 else None

    def _latex(self, printer: Any) -> str:
        return rf"\log {printer.parenthesize(self.args[0], 0)}"

    def _eval_evalf(self, precision: int) -> sp.Expr:
        return sp.log(self.args[0])._eval_evalf(precision)  # noqa: SLF001 -- the only hook there is


def power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Return base^exponent, numbers set apart in long powers; NaN if not real.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> power(2 * x, sp.Rational(1, 2))
    sqrt(2)*sqrt(x)
    >>> power(2 * x, sp.Rational(1, 999))
    x**(1/999)*exp(exact_log(2)/999)
    """
    if not exponent.is_Rational or exponent.q <= LONGEST_ROOT:
        return base**exponent
    if base.is_Rational:
        if base in (0, 1) or base < 0:
            return base**exponent if base >= 0 else sp.nan
        return sp.exp(exponent * exact_log(base))
    content, rest = base.as_content_primitive()
    if content == 1:
        return base**exponent
    return sp.exp(exponent * exact_log(content)) * rest**exponent


def replace(expression: sp.Expr, x: sp.Symbol, value: sp.Expr) -> sp.Expr:
    """Put a value for x without working out long powers."""
    if expression == x:
        return value
    if not expression.has(x):
        return expression
    parts = [replace(part, x, value) for part in expression.args]
    return power(*parts) if expression.is_Pow and expression.base is not sp.E else expression.func(*parts)
