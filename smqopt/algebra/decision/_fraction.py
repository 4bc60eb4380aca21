"""Whether a fraction in letters vanishes, by polynomials over the rationals.

Symbols, functions and irrational numbers are letters; so is the q-th root of an expression, whose
q-th power is that expression.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping

import sympy as sp
from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

MOST_TERMS = 3_000
"""Terms of a polynomial beyond which the work is given up."""
MOST_PRODUCTS = 1_000_000
"""Pairs of terms that are multiplied, all in all."""
MOST_FACTORED, LARGEST_DEGREE = 300, 60
"""Terms and degree beyond which no common factor is looked for."""

Fraction = tuple[fmpq_mpoly, fmpq_mpoly]
"""Numerator and denominator."""
Roots = Mapping[sp.Symbol, tuple[sp.Expr, int]]
"""Letters for roots, inner ones first: the expression, and which root of it."""


class TooLargeError(Exception):
    """A polynomial has too many terms, or a denominator vanishes."""


def fraction_vanishes(expression: sp.Expr, roots: Roots) -> bool:
    """Tell whether an expression is shown to vanish; False means not shown."""
    try:
        return _Letters([expression, *(base for base, _ in roots.values())], roots).is_zero(expression)
    except TooLargeError:
        return False


def letters_of(expressions: Iterable[sp.Expr]) -> list[sp.Expr]:
    """Return what is a letter in some expressions, each once."""
    found: dict[sp.Expr, None] = {}
    for expression in expressions:
        _collect(expression, found)
    return list(found)


class _Letters:
    """Fractions in the letters of some expressions."""

    def __init__(self, expressions: list[sp.Expr], roots: Roots) -> None:
        found = dict.fromkeys([*roots, *letters_of(expressions)])
        self.context = fmpq_mpoly_ctx.get([f"x{k}" for k in range(max(len(found), 1))], "lex")
        letters = dict(zip(found, self.context.gens(), strict=False))
        one = self.context.constant(1)
        self.known: dict[sp.Expr, Fraction] = {part: (letter, one) for part, letter in letters.items()}
        self.positive = {k for k, part in enumerate(found) if part.is_Symbol and part.is_positive}
        self.left = MOST_PRODUCTS
        self.relations: list[tuple[int, int, Fraction]] = []
        """A letter's place, and the power of it that is a fraction."""
        self.named: dict[tuple[int, str], fmpq_mpoly] = {}
        """The letters for roots of polynomials."""
        places = {part: k for k, part in enumerate(found)}
        for root, (base, order) in roots.items():
            self._name(root, places[root], self.value(base), order)

    def is_zero(self, expression: sp.Expr) -> bool:
        """Tell whether an expression is seen to be 0."""
        return bool(self.reduce(self.value(expression)[0]).is_zero())

    def value(self, expression: sp.Expr) -> Fraction:
        """Return an expression as a fraction."""
        if expression not in self.known:
            self.known[expression] = self._work_out(expression)
        return self.known[expression]

    def _work_out(self, expression: sp.Expr) -> Fraction:
        if expression.is_Rational:
            return self.context.constant(fmpq(int(expression.p), int(expression.q))), self.context.constant(1)
        if expression.is_Pow:
            top, bottom = self.value(expression.base)
            exponent = int(expression.exp)
            if exponent < 0:
                if self.reduce(top).is_zero():
                    raise TooLargeError
                top, bottom = bottom, top
            return self._power(top, abs(exponent)), self._power(bottom, abs(exponent))
        parts = [self.value(part) for part in expression.args]
        return functools.reduce(self._sum if expression.is_Add else self._product, parts)

    def _sum(self, first: Fraction, second: Fraction) -> Fraction:
        common = self._common(first[1], second[1])
        left, right = second[1] / common, first[1] / common
        return self._cancel(self._times(first[0], left) + self._times(second[0], right), self._times(first[1], left))

    def _product(self, first: Fraction, second: Fraction) -> Fraction:
        return self._cancel(self._times(first[0], second[0]), self._times(first[1], second[1]))

    def _cancel(self, top: fmpq_mpoly, bottom: fmpq_mpoly) -> Fraction:
        common = self._common(top, bottom)
        return top / common, bottom / common

    def _common(self, first: fmpq_mpoly, second: fmpq_mpoly) -> fmpq_mpoly:
        if first.is_constant() or second.is_constant() or not (_is_small(first) and _is_small(second)):
            return self.context.constant(1)
        return first.gcd(second)

    def _times(self, first: fmpq_mpoly, second: fmpq_mpoly) -> fmpq_mpoly:
        self.left -= len(first) * len(second)
        if self.left < 0:
            raise TooLargeError
        product = first * second
        if len(product) > MOST_TERMS:
            raise TooLargeError
        return product

    def _power(self, base: fmpq_mpoly, exponent: int) -> fmpq_mpoly:
        if len(base) > 1 and exponent > MOST_TERMS:
            raise TooLargeError
        if len(base) <= 1:
            return base**exponent
        return functools.reduce(self._times, [base] * exponent, self.context.constant(1))

    def _name(self, root: sp.Symbol, place: int, base: Fraction, order: int) -> None:
        """Say what a power of a root is; take squares out of a square root."""
        letter, bottom = self.known[root][0], base[1]
        if not self._is_positive(bottom):
            self.relations.append((place, order, base))
            return
        inside = functools.reduce(self._times, [bottom] * (order - 1), base[0])
        outside = self.context.constant(1)
        if order == 2 and _is_small(inside) and not inside.is_zero():
            constant, factors = inside.factor_squarefree()
            inside = self.context.constant(constant)
            for factor, multiplicity in factors:
                sign = 1 if self._is_positive(factor) else -1 if self._is_positive(-factor) else 0
                taken = multiplicity // 2 if sign else 0
                outside = self._times(outside, self._power(sign * factor, taken)) if taken else outside
                inside = self._times(inside, self._power(factor, multiplicity - 2 * taken))
            whole = sp.sqrt(sp.Rational(int(constant.p), int(constant.q))) if inside.is_constant() else sp.I
            if whole.is_Rational:
                self.known[root] = self._cancel(outside * fmpq(int(whole.p), int(whole.q)), bottom)
                return
        key = order, str(inside)
        if key not in self.named:
            self.named[key] = letter
            self.relations.append((place, order, (inside, self.context.constant(1))))
        self.known[root] = self._cancel(self._times(self.named[key], outside), bottom)

    def _is_positive(self, polynomial: fmpq_mpoly) -> bool:
        """Tell whether all terms are seen to be positive."""
        used = {k for exponents in polynomial.monoms() for k, exponent in enumerate(exponents) if exponent}
        return used <= self.positive and all(coefficient > 0 for coefficient in polynomial.coeffs())

    def reduce(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """Put what powers of roots are, outer ones first.

        What they stand over is multiplied out.
        """
        for place, order, (top, bottom) in reversed(self.relations):
            if polynomial.degrees()[place] < order:
                continue
            highest = max(exponents[place] for exponents in polynomial.monoms()) // order
            parts: dict[int, dict[tuple[int, ...], fmpq]] = {}
            for exponents, coefficient in polynomial.to_dict().items():
                times, left = divmod(exponents[place], order)
                kept = (*exponents[:place], left, *exponents[place + 1 :])
                parts.setdefault(times, {})[kept] = coefficient
            terms = (
                self._times(
                    self.context.from_dict(part),
                    self._times(self._power(top, times), self._power(bottom, highest - times)),
                )
                for times, part in sorted(parts.items())
            )
            polynomial = functools.reduce(operator.add, terms)
        return polynomial


def _is_small(polynomial: fmpq_mpoly) -> bool:
    return len(polynomial) <= MOST_FACTORED and polynomial.total_degree() <= LARGEST_DEGREE


def _collect(expression: sp.Expr, found: dict[sp.Expr, None]) -> None:
    """Add what is no rational operation to the letters."""
    if expression.is_Rational:
        return
    if expression.is_Add or expression.is_Mul or (expression.is_Pow and expression.exp.is_Integer):
        for part in expression.args[: 1 if expression.is_Pow else None]:
            _collect(part, found)
    else:
        found.setdefault(expression)
