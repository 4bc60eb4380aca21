"""The sign of an expression on a whole interval: nonnegative with a proof, negative with a point, or undecided.

Rational functions are decided by counting roots exactly; anything else by ball arithmetic on ever smaller pieces. Where the
expression vanishes at an end of the interval, its first Taylor coefficient there that does not vanish gives the sign.
Powers with broken exponents, such as √(1 − θ), are divided out as far as all terms share them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from smqopt.numeric.balls import Ball, ball, ball_function, hull, precision, series_function
from smqopt.numeric.exact_log import LONGEST_ROOT, power
from smqopt.valuation.fraction_size import fraction_size
from smqopt.valuation.masked import vanishes
from smqopt.valuation.root_counting import exact, negative_point

__all__ = ["Negative", "Nonnegative", "Sign", "Unknown", "sign_on"]

MAX_DEGREE = 80
"""Roots are counted up to this degree; beyond, balls are faster."""
MAX_PIECES = 2_000
"""Pieces of the interval that ball arithmetic may look at."""
MAX_ORDER = 8
"""Order to which a zero at an end of the interval is resolved, less one."""
MAX_OPERATIONS = 1_000
"""Expressions with more operations are not rewritten."""
DEEPEST = 50
"""Pieces are halved this often at most."""
BITS = 192
"""Working precision of the balls."""


@dataclass(frozen=True)
class Nonnegative:
    """The expression is ≥ 0 on the whole interval, proved."""

    method: str


@dataclass(frozen=True)
class Negative:
    """The expression is < 0 at a point, proved."""

    method: str
    point: Fraction


@dataclass(frozen=True)
class Unknown:
    """Neither was shown."""

    method: str
    near: Fraction | None = None
    """Where the proof failed, if that is known."""


Sign = Nonnegative | Negative | Unknown


def sign_on(expression: sp.Expr, x: sp.Symbol, low: Fraction, high: Fraction) -> Sign:
    """Decide whether an expression is nonnegative on the open interval (low, high).

    Parameters
    ----------
    expression
        In x alone, with exact numbers.
    low, high
        The ends; the expression need not be defined there.
    """
    # A symbol of which nothing is known: SymPy's guesses at signs can take for ever. It counts from low, so that what
    # vanishes there does so term by term.
    distance = sp.Dummy("distance")
    verdict = _sign_on(_replaced(expression, x, exact(low) + distance), distance, Fraction(0), high - low)
    match verdict:
        case Negative(method, point):
            return Negative(method, low + point)
        case Unknown(method, near) if near is not None:
            return Unknown(f"{method} near θ = {float(low + near):.6g}", low + near)
        case _:
            return verdict


def _replaced(expression: sp.Expr, x: sp.Symbol, value: sp.Expr) -> sp.Expr:
    """Put a value for x, and keep SymPy from working out powers that it would never finish."""
    if expression == x:
        return value
    if not expression.has(x):
        return expression
    parts = [_replaced(part, x, value) for part in expression.args]
    return power(*parts) if expression.is_Pow and expression.base is not sp.E else expression.func(*parts)


def _sign_on(expression: sp.Expr, x: sp.Symbol, low: Fraction, high: Fraction) -> Sign:
    bases = _bases_of_broken_powers(expression, x)
    if not all(base == x or isinstance(_sign_on(base, x, low, high), Nonnegative) for base in bases):
        return _decided(expression, x, low, high, bases_are_nonnegative=False)
    # more terms may share a power once whole powers are multiplied out, at the price of wider balls
    forms = (_without_powers(expression, x, bases, rewrite) for rewrite in (sp.expand_mul, _multiplied_out))
    verdict: Sign = Unknown("")
    for form in itertools.chain(forms, [expression]):
        verdict = _decided(form, x, low, high, bases_are_nonnegative=True)
        if not isinstance(verdict, Unknown):
            break
    return verdict


def _decided(expression: sp.Expr, x: sp.Symbol, low: Fraction, high: Fraction, *, bases_are_nonnegative: bool) -> Sign:
    expression = sp.Mul(*(_with_low_power(factor) for factor in sp.Mul.make_args(expression)))
    if max(fraction_size(expression, {x})) <= MAX_DEGREE:
        numerator, denominator = sp.fraction(sp.together(expression))
        if _is_rational_polynomial(numerator, x) and _is_rational_polynomial(denominator, x):
            product = sp.Poly(numerator, x) * sp.Poly(denominator, x)
            point = negative_point(product, low, high)
            method = "roots counted exactly (Sturm)"
            return Nonnegative(method) if point is None else Negative(method, point)
    return _by_balls(expression, x, low, high, bases_are_nonnegative=bases_are_nonnegative)


def _bases_of_broken_powers(expression: sp.Expr, x: sp.Symbol) -> list[sp.Expr]:
    """Give the bases, with x in them, of powers whose exponent is a number but no integer."""
    powers = expression.atoms(sp.Pow)
    bases = {p.base for p in powers if p.exp.is_number and not p.exp.is_Integer and p.base.has(x)}
    return sorted(bases, key=sp.default_sort_key)


def _without_powers(
    expression: sp.Expr, x: sp.Symbol, bases: list[sp.Expr], multiplied_out: Callable[[sp.Expr], sp.Expr]
) -> sp.Expr:
    """Divide by the largest power of each base that all terms share: for nonnegative bases the sign stays."""
    if expression.count_ops() > MAX_OPERATIONS:
        return expression
    expression = _without_constant(expression, x)
    for base in [x, *(base for base in bases if base != x)]:
        terms = sp.Add.make_args(multiplied_out(expression))
        exponents = [term.as_powers_dict().get(base, sp.Integer(0)) for term in terms]
        if all(exponent.is_Rational for exponent in exponents):
            expression = sp.Add(*(term * base ** -min(exponents) for term in terms))
    return _without_constant(expression, x)


def _without_constant(expression: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """Divide by the size of the constant factor, which may be a number that polynomials do not know."""
    constant, rest = sp.factor_terms(expression).as_independent(x, as_Add=False)
    with precision(BITS):
        value = ball_function(constant, [])()
        if value > 0:
            return rest
        return -rest if value < 0 else expression


def _multiplied_out(expression: sp.Expr) -> sp.Expr:
    """Multiply products and whole powers out, and leave everything else alone."""
    return sp.expand(expression, power_base=False, power_exp=False, log=False, basic=False)


def _with_low_power(factor: sp.Expr) -> sp.Expr:
    """Give the first or second power of a factor that stands to a whole power: the sign is the same, and so are zeros."""
    if not factor.is_Pow or not factor.exp.is_Integer:
        return factor
    return factor.base ** (2 if factor.exp % 2 == 0 else 1)


def _is_rational_polynomial(expression: sp.Expr, x: sp.Symbol) -> bool:
    return bool(expression.is_polynomial(x)) and bool(sp.Poly(expression, x).domain in (sp.ZZ, sp.QQ))


def _by_balls(expression: sp.Expr, x: sp.Symbol, low: Fraction, high: Fraction, *, bases_are_nonnegative: bool) -> Sign:
    value = ball_function(expression, [x], bases_are_nonnegative=bases_are_nonnegative)
    seen = 0
    with precision(BITS):
        orders = {end: _order_at(expression, x, end) for end in (low, high)}
        pieces = [(low, high, 0)]
        while pieces:
            left, right, depth = pieces.pop()
            seen += 1
            piece = hull(left, right)
            if value(piece) >= 0:
                continue
            middle = (left + right) / 2
            if value(ball(middle)) < 0:
                return Negative("ball arithmetic", middle)
            if left == low and _positive_beside(orders[low], piece, above=True):
                continue
            if right == high and _positive_beside(orders[high], piece, above=False):
                continue
            if depth == DEEPEST or seen + len(pieces) >= MAX_PIECES:
                return Unknown(f"ball arithmetic could not decide, with {seen} pieces,", middle)
            pieces += [(middle, right, depth + 1), (left, middle, depth + 1)]
    return Nonnegative(f"ball arithmetic ({seen} pieces)")


@dataclass(frozen=True)
class _EndOrder:
    """The coefficients below `order` are zero at an end; `coefficients` gives balls of all of them."""

    order: int
    coefficients: object


def _order_at(expression: sp.Expr, x: sp.Symbol, end: Fraction) -> _EndOrder | None:
    """Give the order to which an expression vanishes at an end, proved; None if it does not, or that is not known."""
    coefficients = series_function(expression, x, MAX_ORDER + 1)
    at_end = coefficients(ball(end))
    derivative = expression
    for order in range(MAX_ORDER + 1):
        if not at_end[order].is_finite():
            return None
        if not at_end[order].contains(0):
            return _EndOrder(order, coefficients) if order else None
        if _has_long_power(derivative) or not vanishes(derivative.subs(x, exact(end))):
            return None
        derivative = sp.diff(derivative, x)
    return None


def _has_long_power(expression: sp.Expr) -> bool:
    """Say whether putting a number for x could make SymPy work out a root of so high an order that it never ends."""
    return any(p.exp.is_Rational and p.exp.q > LONGEST_ROOT for p in expression.atoms(sp.Pow))


def _positive_beside(end: _EndOrder | None, piece: Ball, *, above: bool) -> bool:
    """Say whether (θ − end)^k E^(k)(ξ)/k! is proved ≥ 0 for all θ in the piece (Taylor's formula, Lagrange's remainder)."""
    if end is None:
        return False
    leading = end.coefficients(piece)[end.order]  # type: ignore[operator]
    return bool(leading >= 0) if above or end.order % 2 == 0 else bool(leading <= 0)
