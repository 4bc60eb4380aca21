"""Balls: rounding, formulas evaluated in them, and series of them.

A ball that is not finite says nothing; no comparison with it holds. A comparison holds only where
it holds for every number in the ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import sympy as sp
from flint import arb, arb_series, ctx, fmpq

from smqopt.numeric._tape import Tape, tape
from smqopt.numeric._work import count_work

Ball = Any
"""A `flint.arb`; the library carries no types."""


_BALL = 1_000
"""Evaluations at doubles that take as long as one in balls of 128 bits."""


def count_calls(function: Callable[..., Any], evaluations: int = 1) -> Callable[..., Any]:
    """Count each call of a function of balls as so many evaluations, by precision."""

    def call(*arguments: Ball) -> Any:
        count_work(evaluations * _BALL * max(ctx.prec >> 7, 1))
        return function(*arguments)

    return call


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Reckon with so many bits within the block."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(x: Fraction | float) -> Ball:
    """Return an exact number as a ball."""
    if isinstance(x, float):
        return arb(x)
    exact = Fraction(x)
    return arb(fmpq(exact.numerator, exact.denominator))


def hull(low: Fraction, high: Fraction) -> Ball:
    """Return a ball that holds [low, high]."""
    return ball(low).union(ball(high))


def rounded_down(x: Ball) -> float:
    """Return the largest double that is no more than the ball.

    Examples
    --------
    >>> with precision(100):
    ...     rounded_down(ball(1) / 3) < Fraction(1, 3) < rounded_up(ball(1) / 3)
    True
    """
    return 0.0 - rounded_up(-x)


def rounded_up(x: Ball) -> float:
    """Return the least double that is no less than the ball."""
    if not x.is_finite():
        return math.inf
    value = float(x.upper().mid())  # to nearest, or so
    while not arb(value) >= x:
        value = math.nextafter(value, math.inf)
    return value


def ball_function(
    expression: sp.Expr, symbols: Sequence[sp.Symbol], *, bases_are_nonnegative: bool = False
) -> Callable[..., Ball]:
    """Compile an expression into a function of balls.

    Parameters
    ----------
    bases_are_nonnegative
        Whether the caller has proved that, wherever the function will be asked, no power with a
        broken exponent has a negative base. Then a base whose ball reaches below 0 is cut off
        there.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> with precision(100):
    ...     bool(ball_function(x**2 - 2, [x])(ball(1.5)) > 0)
    True
    """
    steps: Tape[Ball] = tape(expression, symbols)
    arithmetic = _Balls(bases_are_nonnegative=bases_are_nonnegative)
    return lambda *arguments: steps.run(arguments, arithmetic)


def bound_ball_function(expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> Callable[..., Callable[[Ball], Ball]]:
    """Compile an expression into balls of its parameters, then of its variable.

    What the first symbol has no part in is worked out once, at the precision at which the others
    were given.
    """
    steps: Tape[Ball] = tape(expression, symbols)
    bind = steps.binder(_Balls(bases_are_nonnegative=False))
    return lambda *fixed: bind(fixed)


def series_function(
    expression: sp.Expr, symbol: sp.Symbol, order: int, fixed: Mapping[sp.Symbol, Ball] = MappingProxyType({})
) -> Callable[[Ball], list[Ball]]:
    """Compile an expression into a function that returns Taylor coefficients.

    Parameters
    ----------
    order
        The number m of coefficients. At a ball X the k-th one, k < m, holds E^(k)(ξ)/k! for every ξ
        in X.
    fixed
        Balls of other symbols in the expression; a coefficient holds its value for all numbers in
        them.
    """
    steps: Tape[Any] = tape(expression, [symbol, *fixed])
    arithmetic = _Series(order)

    def function(x: Ball) -> list[Ball]:
        constants = [arb_series([value], order) for value in fixed.values()]
        return _coefficients(steps.run([arb_series([x, 1], order), *constants], arithmetic), order)

    return function


def bound_series_function(
    expression: sp.Expr, symbols: Sequence[sp.Symbol], order: int
) -> Callable[..., Callable[[Ball], list[Ball]]]:
    """Compile Taylor coefficients from balls of parameters, then of the variable.

    Parameters
    ----------
    order
        As for `series_function`.

    Examples
    --------
    >>> x, a = sp.symbols("x a")
    >>> with precision(100):
    ...     [float(c) for c in bound_series_function(a * x**2, [x, a], 3)(ball(2.0))(ball(1.0))]
    [2.0, 4.0, 2.0]
    """
    steps: Tape[Any] = tape(expression, symbols)
    bind = steps.binder(_Series(order))

    def of(*fixed: Ball) -> Callable[[Ball], list[Ball]]:
        function = bind([arb_series([value], order) for value in fixed])
        return lambda x: _coefficients(function(arb_series([x, 1], order)), order)

    return of


def _coefficients(series: Any, order: int) -> list[Ball]:
    """Return the first coefficients, NaN where they are not known."""
    known = min(series.prec, order)
    return [*(series[k] for k in range(known)), *[arb("nan")] * (order - known)]


class _Balls:
    """The arithmetic of `arb`."""

    def __init__(self, *, bases_are_nonnegative: bool) -> None:
        self.bases_are_nonnegative = bases_are_nonnegative

    def number(self, value: Fraction) -> Ball:
        return arb(fmpq(value.numerator, value.denominator))

    def pi(self) -> Ball:
        return arb.pi()

    def add(self, a: Ball, b: Ball) -> Ball:
        return a + b

    def multiply(self, a: Ball, b: Ball) -> Ball:
        return a * b

    def divide(self, a: Ball, b: Ball) -> Ball:
        return a / b

    def rational_power(self, a: Ball, exponent: Fraction) -> Ball:
        if exponent.denominator == 1:
            return a ** int(exponent)
        if a == 0:
            return a if exponent > 0 else arb("nan")
        if exponent > 0 and self.bases_are_nonnegative and not a > 0 and a.upper() > 0:
            return arb(0).union(a.upper() ** self.number(exponent))
        return a.sqrt() ** exponent.numerator if exponent.denominator == _HALVES else a ** self.number(exponent)

    def power(self, a: Ball, exponent: Ball) -> Ball:
        whole = exponent.unique_fmpz()
        if exponent.is_exact() and whole is not None:
            return a ** int(whole)
        if a == 0:
            return a if exponent > 0 else arb("nan")
        return a**exponent

    def call(self, name: str, *arguments: Ball) -> Ball:
        if len(arguments) > 1:
            return _moment(name, arguments, is_within=self.bases_are_nonnegative)
        (a,) = arguments
        match name:
            case "absolute":
                return abs(a)
            case "direction":
                return a.sgn()
            case "spike":
                return arb("nan") if a.contains(0) else arb(0)
            case _:
                return getattr(a, name)()


def _moment(name: str, arguments: Sequence[Ball], *, is_within: bool = False) -> Ball:
    """Enclose a moment, monotone in its last argument, by its values at both ends.

    Parameters
    ----------
    is_within
        Whether z ≤ 1 is known where that is needed, so that a ball is cut off there.
    """
    (*shapes, z) = arguments
    if not all(each.is_finite() for each in arguments):
        return arb("nan")
    ends = [z.lower(), z.upper()]
    if name == "exponential_moment":
        values = [end.gamma_lower(shapes[0], regularized=2) * shapes[0].gamma() for end in ends]
    else:
        if is_within and ends[1] > 1:
            ends[1] = arb(1)
        values = [_power_moment(shapes[0], shapes[1], end) for end in ends]
    return values[0].union(values[1])


def _power_moment(a: Ball, b: Ball, z: Ball) -> Ball:
    if z == 1:
        return a.gamma() * b.gamma() / (a + b).gamma() if b > 0 else arb("nan")
    return z.hypgeom_2f1(a, 1 - b, a + 1) / a if z < 1 else arb("nan")


_HALVES = 2
"""The denominator of the exponent of a square root."""
_LARGEST_WHOLE = 64
"""Powers of series up to this are worked out by multiplication."""


class _Series:
    """The arithmetic of `arb_series`, to one order."""

    def __init__(self, order: int) -> None:
        self.order = order

    def number(self, value: Fraction) -> Any:
        return arb_series([arb(fmpq(value.numerator, value.denominator))], self.order)

    def pi(self) -> Any:
        return arb_series([arb.pi()], self.order)

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def multiply(self, a: Any, b: Any) -> Any:
        return a * b

    def divide(self, a: Any, b: Any) -> Any:
        return a * self._inverse(b)

    def rational_power(self, a: Any, exponent: Fraction) -> Any:
        if exponent == 1:
            return a
        if exponent.denominator == 1:
            power = self._whole_power(a, abs(exponent.numerator))
            return power if exponent > 0 else self._inverse(power)
        if not bool(a[0] > 0):
            return self._unknown()
        if exponent.denominator == _HALVES:
            power = self._whole_power(a.sqrt(), abs(exponent.numerator))
            return power if exponent > 0 else self._inverse(power)
        return (a.log() * self.number(exponent)).exp()

    def power(self, a: Any, exponent: Any) -> Any:
        if exponent.length() <= 1:  # a number
            whole = exponent[0].unique_fmpz()
            if exponent[0].is_exact() and whole is not None and abs(whole) <= _LARGEST_WHOLE:
                return self.rational_power(a, Fraction(int(whole)))
            if a.length() == 0 and exponent[0] > 0:
                return a
        return (a.log() * exponent).exp() if bool(a[0] > 0) else self._unknown()

    def call(self, name: str, *arguments: Any) -> Any:
        if len(arguments) > 1:
            return self._moment(name, *arguments)
        (a,) = arguments
        one = self.number(Fraction(1))
        match name:
            case "expm1":
                return a.exp() - one
            case "log" | "log1p":
                inner = a if name == "log" else a + one
                return inner.log() if bool(inner[0] > 0) else self._unknown()
            case "sinh":
                return (a.exp() - (-a).exp()) * self.number(Fraction(1, 2))
            case "cosh":
                return (a.exp() + (-a).exp()) * self.number(Fraction(1, 2))
            case "tanh":
                two = self.number(Fraction(2))
                return one - two * self._inverse((a * two).exp() + one)
            case "tan":
                return a.sin() * self._inverse(a.cos())
            case "spike":
                return self._unknown() if a[0].contains(0) else self.number(Fraction(0))
            case "absolute" | "direction":
                if a[0].contains(0):
                    bounded = abs(a[0]) if name == "absolute" else a[0].sgn()
                    return arb_series([bounded, *[arb("nan")] * (self.order - 1)], self.order)
                rises = bool(a[0] > 0)
                return (a if rises else -a) if name == "absolute" else (one if rises else -one)
            case _:
                return getattr(a, name)()

    def _moment(self, name: str, *arguments: Any) -> Any:
        """Insert a series in Taylor's formula of a moment, whose slopes are moments."""
        (*shapes, z) = arguments
        numbers, factor, coefficients = [shape[0] for shape in shapes], arb(1), []
        for k in range(self.order):
            coefficients.append(factor * _moment(name, (*numbers, z[0])))
            factor *= (-1 if name == "exponential_moment" else 1 - numbers[1]) / arb(k + 1)
            numbers = [number + side for number, side in zip(numbers, (1, -1), strict=False)]
        away, result = z - arb_series([z[0]], self.order), self.number(Fraction(0))
        for coefficient in reversed(coefficients):
            result = result * away + arb_series([coefficient], self.order)
        return result

    def _whole_power(self, a: Any, exponent: int) -> Any:
        result, square = self.number(Fraction(1)), a
        while exponent:
            if exponent & 1:
                result = result * square
            square = square * square
            exponent >>= 1
        return result

    def _inverse(self, a: Any) -> Any:
        return self._unknown() if a[0].contains(0) else a.inv()

    def _unknown(self) -> Any:
        return arb_series([arb("nan")] * self.order, self.order)
