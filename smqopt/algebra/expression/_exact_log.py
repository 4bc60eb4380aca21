"""Powers of numbers with long exponents, kept unevaluated.

SymPy works out c^(p/q) for a rational c at once, by the prime factors of c, and that takes for ever
where p and q are as long as those of a double. So such a power is written e^((p/q) exact_log(c)),
which it leaves alone, and the base of any other long power is given whole coefficients without a
common factor, so that none can be drawn out.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import sympy as sp

LONGEST_ROOT = 64
"""Roots up to this order are left to SymPy."""
LARGEST_FACTORED = 2**60
"""Numbers beyond this are not taken apart, but for prime factors below the next, as SymPy does."""
SMALL = 2**15
_BY_TRIAL = {"use_rho": False, "use_pm1": False, "use_ecm": False}


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


def put_in(expression: sp.Expr, values: Mapping[sp.Basic, sp.Expr]) -> sp.Expr:
    """Put values in, powers of numbers by prime factors, so that equal ones are alike.

    SymPy writes 10^(13/25) 103^(19/25) in other ways too, and seeks the polynomial of a difference.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> put_in(x ** sp.Rational(19, 25), {x: sp.Rational(103, 10)})
    10**(6/25)*103**(19/25)/10
    """
    if expression in values:
        return values[expression]
    parts = [put_in(part, values) for part in expression.args]
    if expression.is_Pow and parts[1].is_Rational and not parts[1].is_Integer:
        number, rest = parts[0].as_coeff_Mul()
        if number.is_Rational and number > 0:
            return _in_one_form(rest ** parts[1], [(number, parts[1])])
    unchanged = all(new is old for new, old in zip(parts, expression.args, strict=True))
    put = expression if unchanged else expression.func(*parts)
    return _in_one_form(put, []) if put.is_Mul else put


def _in_one_form(product: sp.Expr, roots: list[tuple[sp.Rational, sp.Rational]]) -> sp.Expr:
    """Multiply by roots of numbers, all together by prime factors."""
    others = []
    for factor in sp.Mul.make_args(product):
        if factor.is_Pow and factor.base.is_Rational and factor.base > 0 and factor.exp.is_Rational:
            roots.append((factor.base, factor.exp))
        else:
            others.append(factor)
    exponents: dict[int, sp.Rational] = {}
    for number, exponent in roots:
        for prime, k in _factors(number).items():
            exponents[prime] = exponents.get(prime, 0) + k * exponent
    return sp.Mul(*others, *(sp.Integer(prime) ** total for prime, total in exponents.items())) if roots else product


@functools.lru_cache(maxsize=1024)
def _factors(c: sp.Rational) -> dict[int, int]:
    """Factor a positive number, a long one by small primes and what they leave."""
    return {
        prime: sign * k
        for number, sign in ((int(c.p), 1), (int(c.q), -1))
        for prime, k in (
            sp.factorint(number) if number <= LARGEST_FACTORED else sp.factorint(number, limit=SMALL, **_BY_TRIAL)
        ).items()
    }


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
        return sp.Add(*(k * exact_log(sp.Integer(prime)) for prime, k in _factors(c).items()))

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
