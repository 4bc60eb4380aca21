"""The sign of an expression on a whole interval.

Nonnegative with a proof, negative with a point, or undecided.

Rational functions are decided by counting roots exactly; anything else by ball arithmetic on ever
smaller pieces. Where the expression vanishes at an end of the interval, its first Taylor
coefficient there that does not vanish gives the sign. Powers with broken exponents, such as √(1 −
θ), are divided out as far as all terms share them.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import sympy as sp

from smqopt.algebra.decision._end_order import SIGN_BITS, SignDomain, order_at, positive_beside
from smqopt.algebra.decision._sturm import exact, negative_point
from smqopt.algebra.decision._work import sign_within_limit
from smqopt.algebra.expression._absolute import absolute, direction, spike
from smqopt.algebra.expression._exact_log import power, replace
from smqopt.algebra.expression._fraction_size import fraction_size
from smqopt.algebra.expression._moments import in_moments, power_moment
from smqopt.numeric import Ball, ball, ball_function, hull, precision, series_function

MAX_DEGREE = 80
"""Roots are counted up to this degree; beyond, balls are faster."""
MAX_PIECES = 2_000
"""Pieces of the interval that ball arithmetic may look at."""
MAX_PIECES_FOR_A_POINT = 300
"""And where beside an end nothing can be shown, so that only a negative point is looked for."""
MAX_PIECES_OF_A_BOX = 200
"""And where other symbols are in a box, which the caller may halve instead."""
MAX_OPERATIONS = 1_000
"""Expressions with more operations are not rewritten."""
MAX_TERMS = 100
"""Nor are they multiplied out to more terms."""
MAX_FACTORED = 200
"""Expressions with more operations are not searched for common factors of their terms: of nested
functions that takes for ever."""
DEEPEST = 50
"""Pieces are halved this often at most."""
MAX_ROOT = 12
"""Square roots of x, and roots of it up to this order, are taken for x."""
_CENTRED, _TERMS = 4, 4
"""From so many halvings on a piece is looked at by so many terms of Taylor's formula too."""
_BESIDE_AN_END = (DEEPEST, 30, 12)
"""How often a piece beside an end is halved to see whether one there can be decided."""


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


def sign_on(
    expression: sp.Expr,
    x: sp.Symbol,
    low: Fraction,
    high: Fraction,
    box: Mapping[sp.Symbol, Ball] = MappingProxyType({}),
) -> Sign:
    """Decide whether an expression is nonnegative on the open interval (low, high).

    Parameters
    ----------
    expression
        In x and the symbols of the box, with exact numbers.
    low, high
        The ends; the expression need not be defined there.
    box
        Balls of other symbols: the verdict holds for every number in them, a `Negative` one too.
    """
    # A symbol of which nothing is known: SymPy's guesses at signs can take for ever. It counts from
    # low, so that what
    # vanishes there does so term by term.
    distance = sp.Dummy("distance")
    domain = SignDomain(distance, Fraction(0), high - low, box)
    placed = _without_sizes(in_moments(replace(expression, x, exact(low) + distance)), domain)
    verdict = _sign_on(placed, domain)
    if isinstance(verdict, Unknown) and placed.is_Add and not box and _are_positive_somewhere(placed.args, domain):
        terms = (_sign_on(term, domain) for term in placed.args)
        if all(isinstance(term, Nonnegative) for term in terms):
            return Nonnegative("term by term, ball arithmetic or roots counted exactly")
    match verdict:
        case Negative(method, point):
            return Negative(method, low + point)
        case Unknown(method, near) if near is not None:
            return Unknown(f"{method} near θ = {float(low + near):.6g}", low + near)
        case _:
            return verdict


def _are_positive_somewhere(terms: tuple[sp.Expr, ...], domain: SignDomain) -> bool:
    """Tell whether all terms are positive at a few points inside."""
    with precision(SIGN_BITS):
        points = [ball(domain.low + (domain.high - domain.low) * Fraction(k, 8)) for k in (1, 4, 7)]
        return all(ball_function(term, [domain.x])(point) > 0 for term in terms for point in points)


def _without_sizes(expression: sp.Expr, domain: SignDomain) -> sp.Expr:
    """Say what |y| and its slopes are where y is linear and of one sign."""
    known: dict[sp.Expr, sp.Expr] = {}
    for part in expression.atoms(absolute, direction, spike):
        y = part.args[0]
        first, last = (y.subs(domain.x, exact(end)) for end in (domain.low, domain.high))
        if not sp.diff(y, domain.x).is_Rational or not (first.is_Rational and last.is_Rational) or first == last:
            continue
        if first * last >= 0:
            sign = sp.sign(first + last)
            known[part] = {absolute: sign * y, direction: sign, spike: sp.Integer(0)}[part.func]
    return expression.xreplace(known)


def _sign_on(expression: sp.Expr, domain: SignDomain) -> Sign:
    powers = [p.exp for p in expression.atoms(sp.Pow) if p.base == domain.x and p.exp.is_Rational]
    order = sp.ilcm(1, 1, *(exponent.q for exponent in powers))
    if 1 < order <= MAX_ROOT and domain.low == 0 and not domain.box:
        verdict = _in_roots(expression, domain, int(order))
        if not isinstance(verdict, Unknown):
            return verdict
    return _as_it_stands(expression, domain)


def _in_roots(expression: sp.Expr, domain: SignDomain, order: int) -> Sign:
    """Put high·s^order for x, so that roots of x have a Taylor series where x is 0."""
    root, high = sp.Dummy("root"), exact(domain.high)

    def insert(part: sp.Expr) -> sp.Expr:
        if part == domain.x:
            return high * root**order
        if part.is_Pow and part.base == domain.x and part.exp.is_Rational:
            return high**part.exp * root ** (order * part.exp)
        return part.func(*map(insert, part.args)) if part.has(domain.x) else part

    verdict = _as_it_stands(insert(expression), SignDomain(root, Fraction(0), Fraction(1), domain.box))
    if isinstance(verdict, Negative):
        return Negative(verdict.method, domain.high * verdict.point**order)
    return verdict if isinstance(verdict, Nonnegative) else Unknown(verdict.method)


def _as_it_stands(expression: sp.Expr, domain: SignDomain) -> Sign:
    bases = bases_of_broken_powers(expression, domain.x)
    if not are_nonnegative(bases, domain):
        return _decide(expression, domain, bases_are_nonnegative=False)
    # more terms may share a power once whole powers are multiplied out, at the price of wider balls
    forms = (_without_powers(expression, domain, bases, rewrite) for rewrite in (sp.expand_mul, _multiplied_out))
    verdict: Sign = Unknown("")
    asked: set[sp.Expr] = set()
    for form in itertools.chain([expression, _with_leading_powers(expression, domain, bases)], forms):
        if form in asked:
            continue
        asked.add(form)
        verdict = _decide(form, domain, bases_are_nonnegative=True)
        if not isinstance(verdict, Unknown):
            break
    return verdict


def are_nonnegative(bases: list[sp.Expr], domain: SignDomain) -> bool:
    return all(base == domain.x or isinstance(_sign_on(base, domain), Nonnegative) for base in bases)


def _decide(expression: sp.Expr, domain: SignDomain, *, bases_are_nonnegative: bool) -> Sign:
    x = domain.x
    expression = sp.Mul(*(_with_low_power(factor) for factor in sp.Mul.make_args(expression)))
    if not domain.box and max(fraction_size(expression, {x})) <= MAX_DEGREE:
        numerator, denominator = sp.fraction(sp.together(expression))
        if is_rational_polynomial(numerator, x) and is_rational_polynomial(denominator, x):
            product = sp.Poly(numerator, x) * sp.Poly(denominator, x)
            point = negative_point(product, domain.low, domain.high)
            method = "roots counted exactly (Sturm)"
            return Nonnegative(method) if point is None else Negative(method, point)
    return _by_balls(expression, domain, bases_are_nonnegative=bases_are_nonnegative)


def bases_of_broken_powers(expression: sp.Expr, x: sp.Symbol) -> list[sp.Expr]:
    """Return the bases, with x in them, of powers with broken exponents.

    And 1 − z for a moment of z, which is a mean of powers of 1 − zt.
    """
    powers = expression.atoms(sp.Pow)
    bases = {p.base for p in powers if p.exp.is_number and not p.exp.is_Integer and p.base.has(x)}
    bases |= {1 - moment.args[-1] for moment in expression.atoms(power_moment) if moment.has(x)}
    return sorted(bases, key=sp.default_sort_key)


def _with_leading_powers(expression: sp.Expr, domain: SignDomain, bases: list[sp.Expr]) -> sp.Expr:
    """Divide by the power of each base by which the expression may vanish or grow.

    In each sum within, the least power of its terms is taken out. For nonnegative bases the sign
    stays.
    """
    for base in dict.fromkeys([domain.x, *bases]):
        expression = _leading_power(expression, base)[1]
    return expression


def _leading_power(expression: sp.Expr, base: sp.Expr) -> tuple[sp.Rational, sp.Expr]:
    """Return p and E, where the expression is base^p E."""
    none, one = sp.Integer(0), sp.Integer(1)
    if expression == base:
        return one, one
    if not expression.has(base):
        return none, expression
    if expression.is_Pow and expression.base == base and expression.exp.is_Rational:
        return expression.exp, one
    if expression.is_Pow and expression.exp.is_Integer:
        exponent, rest = _leading_power(expression.base, base)
        return exponent * expression.exp, power(rest, expression.exp)
    if expression.is_Mul:
        parts = [_leading_power(factor, base) for factor in expression.args]
        return sp.Add(*(part[0] for part in parts)), sp.Mul(*(part[1] for part in parts))
    if expression.is_Add:
        parts = [_leading_power(term, base) for term in expression.args]
        least = min(part[0] for part in parts)
        return least, sp.Add(*(base ** (exponent - least) * rest for exponent, rest in parts))
    return none, expression


def _without_powers(
    expression: sp.Expr, domain: SignDomain, bases: list[sp.Expr], multiplied_out: Callable[[sp.Expr], sp.Expr]
) -> sp.Expr:
    """Divide by the largest power of each base that all terms share.

    For nonnegative bases the sign stays.
    """
    if expression.count_ops() > MAX_OPERATIONS or _terms(expression) > MAX_TERMS:
        return expression
    expression = _without_constant(expression, domain)
    for base in [domain.x, *(base for base in bases if base != domain.x)]:
        terms = sp.Add.make_args(multiplied_out(expression))
        powers = [term.as_powers_dict() for term in terms]
        exponents = [each.get(base, sp.Integer(0)) for each in powers]
        beyond = [
            sp.expand(exponent - exponents[0]) for exponent in exponents
        ]  # symbols of the box may stand in all exponents alike
        if all(difference.is_Rational for difference in beyond):
            left = (exponent - min(beyond) for exponent in beyond)
            others = (sp.Mul(*(power(b, e) for b, e in each.items() if b != base)) for each in powers)
            expression = sp.Add(*(other * base**exponent for other, exponent in zip(others, left, strict=True)))
    return _without_constant(expression, domain)


def _without_constant(expression: sp.Expr, domain: SignDomain) -> sp.Expr:
    """Divide by the size of the constant factor, whatever number it is."""
    small = expression.count_ops() <= MAX_FACTORED
    factors = sp.factor_terms(expression) if small else expression
    constant, rest = factors.as_independent(domain.x, as_Add=False)
    with precision(SIGN_BITS):
        value = ball_function(constant, list(domain.box))(*domain.box.values())
        if value > 0:
            return rest
        return -rest if value < 0 else expression


def _terms(expression: sp.Expr) -> int:
    """Bound the number of terms once all is multiplied out, arguments included."""
    parts = [_terms(part) for part in expression.args] or [1]
    if expression.is_Mul:
        return math.prod(parts)
    if expression.is_Add:
        return sum(parts)
    exponent = expression.exp if expression.is_Pow else sp.Integer(0)
    is_whole = exponent.is_Integer and exponent > 0
    return math.comb(parts[0] + int(exponent) - 1, int(exponent)) if is_whole else max(parts)


def _multiplied_out(expression: sp.Expr) -> sp.Expr:
    """Multiply products and whole powers out, and leave everything else alone."""
    return sp.expand(expression, power_base=False, power_exp=False, log=False, basic=False)


def _with_low_power(factor: sp.Expr) -> sp.Expr:
    """Return the first or second power of a factor that stands to a whole power.

    The sign is the same, and so are zeros.
    """
    if not factor.is_Pow or not factor.exp.is_Integer:
        return factor
    return factor.base ** (2 if factor.exp % 2 == 0 else 1)


def is_rational_polynomial(expression: sp.Expr, x: sp.Symbol) -> bool:
    return bool(expression.is_polynomial(x)) and bool(sp.Poly(expression, x).domain in (sp.ZZ, sp.QQ))


def _by_balls(expression: sp.Expr, domain: SignDomain, *, bases_are_nonnegative: bool) -> Sign:
    left_open: Sign = Unknown("ball arithmetic could not decide within its limit of work")

    def seek() -> Sign:
        return _on_pieces(expression, domain, bases_are_nonnegative=bases_are_nonnegative)

    return sign_within_limit(seek, otherwise=left_open)


def _on_pieces(expression: sp.Expr, domain: SignDomain, *, bases_are_nonnegative: bool) -> Sign:
    low, high = domain.low, domain.high
    function = ball_function(expression, [domain.x, *domain.box], bases_are_nonnegative=bases_are_nonnegative)
    others = tuple(domain.box.values())

    def value(piece: Ball) -> Ball:
        return function(piece, *others)

    def is_shown(left: Fraction, right: Fraction, depth: int) -> bool:
        piece = hull(left, right)
        if value(piece) >= 0 or (depth >= _CENTRED and not others and _around_the_middle(series, left, right) >= 0):
            return True
        if left == low and positive_beside(orders[low], piece, above=True):
            return True
        if right == high and positive_beside(orders[high], piece, above=False):
            return True
        if depth < DEEPEST or (left != low and right != high) or others:
            return False
        # without a value at the end: what falls towards its value inside does not fall below it
        inner, inwards = (right, -1) if left == low else (left, 1)
        slope = SignDomain(domain.x, left, right, domain.box)
        return bool(value(ball(inner)) >= 0) and _falls_inwards(expression, slope, inwards)

    looked_at, open_at = 0, None
    with precision(SIGN_BITS):
        series = series_function(expression, domain.x, _TERMS, domain.box)
        orders = {end: order_at(expression, domain, end) for end in (low, high)}
        steps = [(depth, (high - low) / 2**depth) for depth in _BESIDE_AN_END]
        beside = (
            [(low, low + step, depth) for depth, step in steps],
            [(high - step, high, depth) for depth, step in steps],
        )
        can_be_shown = others or all(any(is_shown(*piece) for piece in pieces) for pieces in beside)
        most = MAX_PIECES_OF_A_BOX if others else MAX_PIECES if can_be_shown else MAX_PIECES_FOR_A_POINT
        # level by level: a piece that cannot be decided must not hide one where the sign is
        # negative
        pieces = deque([(low, high, 0)])
        while pieces:
            left, right, depth = pieces.popleft()
            looked_at += 1
            if is_shown(left, right, depth):
                continue
            middle = (left + right) / 2
            if value(ball(middle)) < 0:
                return Negative("ball arithmetic", middle)
            if depth == DEEPEST or looked_at + len(pieces) >= most:
                open_at = middle if open_at is None else open_at
            else:
                pieces += [(left, middle, depth + 1), (middle, right, depth + 1)]
    if open_at is not None:
        return Unknown(f"ball arithmetic could not decide, with {looked_at} pieces,", open_at)
    return Nonnegative(f"ball arithmetic ({looked_at} pieces)")


def _around_the_middle(series: Callable[[Ball], list[Ball]], left: Fraction, right: Fraction) -> Ball:
    """Enclose the values on a piece by Taylor's formula at its middle."""
    at_middle, on_piece = series(ball((left + right) / 2)), series(hull(left, right))
    away = hull((left - right) / 2, (right - left) / 2)
    total = on_piece[-1]
    for coefficient in reversed(at_middle[:-1]):
        total = total * away + coefficient
    return total


def _falls_inwards(expression: sp.Expr, piece: SignDomain, sign: int) -> bool:
    """Tell whether the slope has a sign beside an end, by counting roots alone."""
    if _is_broken(expression, piece.x):  # its slope is no fraction either
        return False
    slope = sign * _slope(expression, piece.x)
    if max(fraction_size(slope, {piece.x})) > MAX_DEGREE:
        return False
    return isinstance(_decide(slope, piece, bases_are_nonnegative=False), Nonnegative)


def _is_broken(expression: sp.Expr, x: sp.Symbol) -> bool:
    """Tell whether a power of x that no fraction has stands outside of logarithms."""
    parts = sp.preorder_traversal(expression)
    for part in parts:
        if isinstance(part, sp.log):
            parts.skip()
        elif isinstance(part, sp.Pow | sp.exp) and not part.exp.is_Integer and part.has(x):
            return True
    return False


_slope = functools.lru_cache(maxsize=16)(sp.diff)
"""The same one is asked for beside each end, again and again."""
