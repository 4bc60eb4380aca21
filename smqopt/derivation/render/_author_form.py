"""Expressions as an author writes them: joined powers, short numbers, few signs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import sympy as sp
from sympy.core.evalf import PrecisionExhausted
from sympy.core.function import AppliedUndef

from smqopt.algebra import THETA
from smqopt.derivation.render._joined_powers import rebuild, with_joined_powers
from smqopt.valuation import HIGH, LOW

_LONGEST_FRACTION = 10**6
"""Rationals with larger denominators are printed as decimal numbers."""
_LONGEST_INTEGER = 10**12
_LONGEST_DECIMAL, _DIGITS = 9, 6
"""Of more digits they are rounded to so many, and `has_rounded` says that some are."""
_MOST_OPERATIONS = 6
"""Of a constant that is written out; one that takes more is printed as a decimal number."""


@lru_cache(maxsize=2048)
def author_form(expression: sp.Basic) -> sp.Basic:
    """Draw numbers and signs out of sums in fractions; leave out sums of nothing."""
    plain = with_joined_powers(expression.replace(sp.Sum, _author_sum))
    written = with_joined_powers(_with_author_fractions(_with_decimals(plain)))
    rounded = {number: sp.Float(number, _DIGITS) for number in _rounded_numbers(written)}
    return _join_cases(_insert(rounded, written) if rounded else written)


def _insert(known: dict[sp.Rational, sp.Float], part: sp.Basic) -> sp.Basic:
    """Put numbers into an expression, whose cases stay as they are."""
    return known[part] if part in known else rebuild(part, [_insert(known, each) for each in part.args])


def _join_cases(part: sp.Basic) -> sp.Basic:
    """Join neighbouring cases that are printed alike."""
    if not part.has(sp.Piecewise):
        return part
    inner = [_join_cases(each) for each in part.args]
    if not isinstance(part, sp.Piecewise):
        return rebuild(part, inner)
    kept: list[sp.Basic] = []
    for case in inner:
        conditions = (kept[-1].args[1], case.args[1]) if kept and kept[-1].args[0] == case.args[0] else ()
        if conditions and all(each is sp.true or isinstance(each, sp.Le) for each in conditions):
            kept.pop()
        kept.append(case)
    return kept[0].args[0] if len(kept) == 1 else sp.Piecewise(*kept, evaluate=False)


def _with_decimals(part: sp.Basic) -> sp.Basic:
    """Put a decimal number for each constant that is long to write."""
    if not part.args or isinstance(part, sp.Sum | sp.Limit | sp.Derivative):
        return part
    if isinstance(part, sp.Expr) and part.is_number:
        return _decimal(part)
    if isinstance(part, sp.Add | sp.Mul):
        constant, rest = part.as_independent(*part.free_symbols, as_Add=part.is_Add)
        known = _decimal(constant)
        if known is not constant:
            return _with_decimals(part.func(known, rest))
    return rebuild(part, [_with_decimals(each) for each in part.args])


def _decimal(constant: sp.Expr) -> sp.Expr:
    """Round a constant in print that takes many operations, or has long numbers."""
    if constant.is_Rational or constant.is_Float or constant.has(AppliedUndef):
        return constant
    is_short = all(max(abs(each.p), each.q) < _LONGEST_FRACTION for each in constant.atoms(sp.Rational))
    if is_short and sp.count_ops(constant) <= _MOST_OPERATIONS and not constant.has(sp.Float):
        return constant
    try:
        value = constant.evalf(_DIGITS, strict=True)
    except PrecisionExhausted:
        return constant
    return value if value.is_Float and value != 0 else constant


def _author_sum(function: sp.Expr, *limits: sp.Tuple) -> sp.Expr:
    """Leave out a sum of nothing, and draw a sign out of one."""
    if function == 0:
        return sp.Integer(0)
    return -sp.Sum(-function, *limits) if function.could_extract_minus_sign() else sp.Sum(function, *limits)


def _rounded_numbers(expression: sp.Basic) -> set[sp.Rational]:
    """Return the fractions that are rounded in print."""
    numbers = expression.atoms(sp.Rational)
    long = {number for number in numbers if number.q > _LONGEST_FRACTION or abs(number.p) >= _LONGEST_INTEGER}
    return {number for number in long if not _is_short_decimal(number)}


def is_printed_decimal(number: sp.Rational) -> bool:
    """Tell whether a fraction is printed as a decimal number, which it is."""
    return bool(number.q > _LONGEST_FRACTION and _is_short_decimal(number))


def _is_short_decimal(number: sp.Rational) -> bool:
    shown = repr(float(number))
    digits = sum(character.isdigit() for character in shown.lstrip("-0."))
    known = (sp.Rational(*float(number).as_integer_ratio()), sp.Rational(shown))
    return "e" not in shown and digits <= _LONGEST_DECIMAL and number in known


def has_rounded(expressions: Iterable[sp.Basic]) -> bool:
    """Tell whether some numbers are printed rounded.

    Examples
    --------
    >>> [has_rounded([each * THETA]) for each in (sp.Rational(1, 3), 10**15 + 1, sp.Rational(1, 3 * 10**15 + 1))]
    [False, True, True]
    """
    return any(author_form(each).has(sp.Float) and not each.has(sp.Float) for each in expressions)


def _with_author_fractions(part: sp.Basic) -> sp.Basic:
    """Rewrite fractions from within; what has none is left as it stands."""
    part = rebuild(part, [_with_author_fractions(each) for each in part.args])
    return _author_fraction(part) if _is_fraction(part) else part


def _is_fraction(part: sp.Basic) -> bool:
    """Whether sums divide, or a width of the support stands the wrong way round."""
    powers = (
        [factor.as_base_exp() for factor in part.args] if part.is_Mul else [part.as_base_exp()] if part.is_Pow else []
    )
    return any(
        base.is_Add and exponent.is_Integer and ((part.is_Mul and exponent.is_negative) or _is_width(_negative(base)))
        for base, exponent in powers
    )


def _author_fraction(fraction: sp.Expr) -> sp.Expr:
    """Write sums with no common number, positive widths, and few minus signs."""
    number, sums, others = sp.Integer(1), [], []
    for factor in sp.Mul.make_args(fraction):
        base, exponent = factor.as_base_exp()
        if factor.is_Rational:
            number *= factor
        elif not (base.is_Add and exponent.is_Integer):
            others.append(factor)
        else:
            content, primitive = base.primitive()
            falls = _is_width(_negative(primitive))
            number *= content**exponent * (-1) ** (exponent if falls else 0)
            sums.append([_negative(primitive) if falls else primitive, exponent])
    if number.is_negative:
        open_ones = [each for each in sums if each[1] == 1 and _balance(each[0]) <= -each[0].is_polynomial()]
        for each in sorted(open_ones, key=lambda one: _balance(one[0]))[:1]:
            number, each[0] = -number, _negative(each[0])
    return sp.Mul(number, *others, *(base**exponent for base, exponent in sums))


def _is_width(whole: sp.Expr) -> bool:
    """Whether a sum is what lies between a value and an end of the support."""
    return whole in (THETA - LOW, HIGH - THETA, HIGH - LOW)


def _negative(whole: sp.Expr) -> sp.Expr:
    return sp.Add(*(-term for term in whole.args))


def _balance(whole: sp.Expr) -> int:
    """Count the terms without a minus sign, less those with one."""
    return sum(-1 if term.could_extract_minus_sign() else 1 for term in whole.args)
