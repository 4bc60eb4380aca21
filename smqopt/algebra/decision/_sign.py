"""The sign of an expression on a whole interval.

Nonnegative with a proof, negative with a point, or undecided.

Rational functions are decided by counting roots exactly; anything else by ball arithmetic on ever
smaller pieces. Where the expression vanishes at an end of the interval, its first Taylor
coefficient there that does not vanish gives the sign. Powers with broken exponents, such as √(1 −
θ), are divided out as far as all terms share them.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import sympy as sp

from smqopt.algebra.decision._sturm import exact, negative_point
from smqopt.algebra.expression._absolute import absolute, direction
from smqopt.algebra.expression._exact_log import LONGEST_ROOT, exact_log, power
from smqopt.algebra.expression._fraction_size import fraction_size
from smqopt.algebra.expression._rational_part import vanishes
from smqopt.numeric import Ball, ball, ball_function, hull, precision, series_function

MAX_DEGREE = 80
"""Roots are counted up to this degree; beyond, balls are faster."""
MAX_PIECES = 2_000
"""Pieces of the interval that ball arithmetic may look at."""
MAX_PIECES_OF_A_BOX = 200
"""And where other symbols are in a box, which the caller may halve instead."""
MAX_ORDER = 8
"""Order to which a zero at an end of the interval is resolved, less one."""
MAX_OPERATIONS = 1_000
"""Expressions with more operations are not rewritten."""
MAX_FACTORED = 200
"""Expressions with more operations are not searched for common factors of their terms: of nested
functions that takes for ever."""
DEEPEST = 50
"""Pieces are halved this often at most."""
SIGN_BITS = 192
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


@dataclass(frozen=True)
class _Domain:
    """Where a sign is asked for: x between two ends, and balls of other symbols."""

    x: sp.Symbol
    low: Fraction
    high: Fraction
    box: Mapping[sp.Symbol, Ball]


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
    domain = _Domain(distance, Fraction(0), high - low, box)
    verdict = _sign_on(_replace(expression, x, exact(low) + distance), domain)
    match verdict:
        case Negative(method, point):
            return Negative(method, low + point)
        case Unknown(method, near) if near is not None:
            return Unknown(f"{method} near θ = {float(low + near):.6g}", low + near)
        case _:
            return verdict


def _replace(expression: sp.Expr, x: sp.Symbol, value: sp.Expr) -> sp.Expr:
    """Put a value for x without working out long powers."""
    if expression == x:
        return value
    if not expression.has(x):
        return expression
    parts = [_replace(part, x, value) for part in expression.args]
    return power(*parts) if expression.is_Pow and expression.base is not sp.E else expression.func(*parts)


def _sign_on(expression: sp.Expr, domain: _Domain) -> Sign:
    bases = _bases_of_broken_powers(expression, domain.x)
    if not _are_nonnegative(bases, domain):
        return _decide(expression, domain, bases_are_nonnegative=False)
    # more terms may share a power once whole powers are multiplied out, at the price of wider balls
    forms = (_without_powers(expression, domain, bases, rewrite) for rewrite in (sp.expand_mul, _multiplied_out))
    verdict: Sign = Unknown("")
    for form in itertools.chain(forms, [expression]):
        verdict = _decide(form, domain, bases_are_nonnegative=True)
        if not isinstance(verdict, Unknown):
            break
    return verdict


def _are_nonnegative(bases: list[sp.Expr], domain: _Domain) -> bool:
    return all(base == domain.x or isinstance(_sign_on(base, domain), Nonnegative) for base in bases)


def _decide(expression: sp.Expr, domain: _Domain, *, bases_are_nonnegative: bool) -> Sign:
    x = domain.x
    expression = sp.Mul(*(_with_low_power(factor) for factor in sp.Mul.make_args(expression)))
    if not domain.box and max(fraction_size(expression, {x})) <= MAX_DEGREE:
        numerator, denominator = sp.fraction(sp.together(expression))
        if _is_rational_polynomial(numerator, x) and _is_rational_polynomial(denominator, x):
            product = sp.Poly(numerator, x) * sp.Poly(denominator, x)
            point = negative_point(product, domain.low, domain.high)
            method = "roots counted exactly (Sturm)"
            return Nonnegative(method) if point is None else Negative(method, point)
    return _by_balls(expression, domain, bases_are_nonnegative=bases_are_nonnegative)


def _bases_of_broken_powers(expression: sp.Expr, x: sp.Symbol) -> list[sp.Expr]:
    """Return the bases, with x in them, of powers with broken exponents."""
    powers = expression.atoms(sp.Pow)
    bases = {p.base for p in powers if p.exp.is_number and not p.exp.is_Integer and p.base.has(x)}
    return sorted(bases, key=sp.default_sort_key)


def _without_powers(
    expression: sp.Expr, domain: _Domain, bases: list[sp.Expr], multiplied_out: Callable[[sp.Expr], sp.Expr]
) -> sp.Expr:
    """Divide by the largest power of each base that all terms share.

    For nonnegative bases the sign stays.
    """
    if expression.count_ops() > MAX_OPERATIONS:
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


def _without_constant(expression: sp.Expr, domain: _Domain) -> sp.Expr:
    """Divide by the size of the constant factor, whatever number it is."""
    small = expression.count_ops() <= MAX_FACTORED
    factors = sp.factor_terms(expression) if small else expression
    constant, rest = factors.as_independent(domain.x, as_Add=False)
    with precision(SIGN_BITS):
        value = ball_function(constant, list(domain.box))(*domain.box.values())
        if value > 0:
            return rest
        return -rest if value < 0 else expression


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


def _is_rational_polynomial(expression: sp.Expr, x: sp.Symbol) -> bool:
    return bool(expression.is_polynomial(x)) and bool(sp.Poly(expression, x).domain in (sp.ZZ, sp.QQ))


def _by_balls(expression: sp.Expr, domain: _Domain, *, bases_are_nonnegative: bool) -> Sign:
    low, high = domain.low, domain.high
    function = ball_function(expression, [domain.x, *domain.box], bases_are_nonnegative=bases_are_nonnegative)
    others = tuple(domain.box.values())

    def value(piece: Ball) -> Ball:
        return function(piece, *others)

    most = MAX_PIECES_OF_A_BOX if others else MAX_PIECES
    looked_at, open_at = 0, None
    with precision(SIGN_BITS):
        orders = {end: _order_at(expression, domain, end) for end in (low, high)}
        # level by level: a piece that cannot be decided must not hide one where the sign is
        # negative
        pieces = deque([(low, high, 0)])
        while pieces:
            left, right, depth = pieces.popleft()
            looked_at += 1
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
            if depth == DEEPEST and (left == low or right == high) and not others:
                # without a value at the end: what falls towards its value inside does not fall
                # below it
                inwards = -1 if left == low else 1
                slope = _Domain(domain.x, left, right, domain.box)
                if value(ball(right if left == low else left)) >= 0 and _falls_inwards(expression, slope, inwards):
                    continue
            if depth == DEEPEST or looked_at + len(pieces) >= most:
                open_at = middle if open_at is None else open_at
            else:
                pieces += [(left, middle, depth + 1), (middle, right, depth + 1)]
    if open_at is not None:
        return Unknown(f"ball arithmetic could not decide, with {looked_at} pieces,", open_at)
    return Nonnegative(f"ball arithmetic ({looked_at} pieces)")


def _falls_inwards(expression: sp.Expr, piece: _Domain, sign: int) -> bool:
    """Tell whether the slope has a sign beside an end, by counting roots alone."""
    slope = sign * sp.diff(expression, piece.x)
    if max(fraction_size(slope, {piece.x})) > MAX_DEGREE:
        return False
    return isinstance(_decide(slope, piece, bases_are_nonnegative=False), Nonnegative)


def is_continuous(
    expression: sp.Expr,
    x: sp.Symbol,
    low: Fraction,
    high: Fraction,
    box: Mapping[sp.Symbol, Ball] = MappingProxyType({}),
) -> bool:
    """Tell whether an expression is proved continuous on (low, high).

    What divides, stands in a logarithm or under a root, or in a tangent as a cosine, must have no
    zero there. False means not proved. Parameters are as for `sign_on`.
    """
    distance = sp.Dummy("distance")
    domain = _Domain(distance, Fraction(0), high - low, box)
    return all(_has_no_zero(part, domain) for part in _poles(_replace(expression, x, exact(low) + distance), distance))


def _poles(expression: sp.Expr, x: sp.Symbol) -> Iterator[sp.Expr]:
    """Yield what must not vanish for an expression to be continuous in x."""
    if not expression.has(x):
        return
    parts = expression.args
    if expression.is_Mul:
        # sign(u) |u|^p is continuous where u vanishes
        sizes = [base for base, exponent in (part.as_base_exp() for part in parts) if exponent.is_positive]
        parts = [part for part in parts if not (isinstance(part, direction) and absolute(part.args[0]) in sizes)]
    elif expression.is_Pow and expression.base is not sp.E:
        rises = expression.exp.is_positive and (expression.exp.is_Integer or expression.base.is_nonnegative)
        if not rises:
            yield expression.base
    elif isinstance(expression, sp.log | exact_log | direction):
        yield expression.args[0]
    elif isinstance(expression, sp.tan):
        yield sp.cos(expression.args[0])
    for part in parts:
        yield from _poles(part, x)


def _has_no_zero(expression: sp.Expr, domain: _Domain) -> bool:
    if not expression.has(domain.x):
        return True
    if not domain.box and _is_rational_polynomial(expression, domain.x):
        polynomial = sp.Poly(expression, domain.x)
        for end in (domain.low, domain.high):
            while polynomial.degree() > 0 and polynomial.eval(exact(end)) == 0:
                polynomial = polynomial.quo(sp.Poly(domain.x - exact(end), domain.x, domain="QQ"))
        return bool(polynomial.count_roots(exact(domain.low), exact(domain.high)) == 0)
    function = ball_function(
        expression,
        [domain.x, *domain.box],
        bases_are_nonnegative=_are_nonnegative(_bases_of_broken_powers(expression, domain.x), domain),
    )
    others = tuple(domain.box.values())
    with precision(SIGN_BITS):
        orders = {end: _order_at(expression, domain, end) for end in (domain.low, domain.high)}
        pieces, looked_at = deque([(domain.low, domain.high, 0)]), 0
        while pieces:
            left, right, depth = pieces.popleft()
            looked_at += 1
            piece, ends = hull(left, right), {left, right} & orders.keys()
            value = function(piece, *others)
            if value.is_finite() and not value.contains(0):
                continue
            beside = (orders[end].coefficients(piece)[orders[end].order] for end in ends if orders[end])  # type: ignore
            if len(ends) == 1 and any(leading.is_finite() and not leading.contains(0) for leading in beside):
                continue
            if depth == DEEPEST or looked_at + len(pieces) >= MAX_PIECES:
                return False
            middle = (left + right) / 2
            pieces += [(left, middle, depth + 1), (middle, right, depth + 1)]
    return True


@dataclass(frozen=True)
class _EndOrder:
    """The coefficients below `order` are zero at an end.

    `coefficients` gives balls of all of them.
    """

    order: int
    coefficients: object


def _order_at(expression: sp.Expr, domain: _Domain, end: Fraction) -> _EndOrder | None:
    """Return the order to which an expression vanishes at an end, proved.

    None if it does not, or that is not known.
    """
    x = domain.x
    coefficients = series_function(expression, x, MAX_ORDER + 1, domain.box)
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
    """Say whether SymPy might work out a root of too high an order."""
    return any(p.exp.is_Rational and p.exp.q > LONGEST_ROOT for p in expression.atoms(sp.Pow))


def _positive_beside(end: _EndOrder | None, piece: Ball, *, above: bool) -> bool:
    """Say whether Taylor's formula at an end proves a piece nonnegative."""
    if end is None:
        return False
    leading = end.coefficients(piece)[end.order]  # type: ignore[operator]
    return bool(leading >= 0) if above or end.order % 2 == 0 else bool(leading <= 0)
