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
LARGEST_FACTORED = 2**60
"""Numbers beyond this are not taken apart."""


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


def in_primes(number: sp.Expr) -> sp.Expr:
    """Write powers of numbers by prime factors, so that equal ones are alike.

    Numbers that are too long to be factored stay.

    Examples
    --------
    >>> power = sp.Rational(7, 5) ** sp.Rational(3, 2)
    >>> in_primes(power) - in_primes(sp.exp(sp.Rational(3, 2) * exact_log(sp.Rational(7, 5))))
    0
    """

    def logarithm(c: sp.Rational) -> sp.Expr:
        if not c.is_Rational or c <= 0 or max(c.p, c.q) > LARGEST_FACTORED:
            return exact_log(c)
        factors = {**sp.factorint(c.p), **{prime: -k for prime, k in sp.factorint(c.q).items()}}
        return sp.Add(*(k * exact_log(sp.Integer(prime)) for prime, k in factors.items()))

    def is_broken(part: sp.Expr) -> bool:
        return bool(part.is_Pow and part.base.is_Rational and part.base > 0 and part.exp.is_Rational)

    def without_whole_powers(exponent: sp.Expr) -> sp.Expr:
        product = sp.Integer(1)
        for term in sp.Add.make_args(sp.expand(exponent)):
            times, log = term.as_coeff_Mul()
            if isinstance(log, exact_log) and log.args[0].is_Integer:
                product *= log.args[0] ** sp.floor(times)
                term -= sp.floor(times) * log  # noqa: PLW2901
            product *= sp.exp(term)
        return product

    plain = number.replace(exact_log, logarithm)
    plain = plain.replace(is_broken, lambda part: sp.exp(part.exp * logarithm(part.base)))
    for _ in "12":  # powers of one prime are brought together between
        plain = plain.replace(sp.exp, without_whole_powers)
    return plain
