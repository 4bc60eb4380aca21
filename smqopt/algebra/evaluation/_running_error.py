"""First-order bounds on rounding errors (Higham 2002, section 3.3).

The bound is an estimate, not a proof: it decides where a value is worked out again in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from scipy import special

from smqopt.algebra.evaluation._lambdify import careful
from smqopt.numeric import Floats, Tape, nearest_double, tape

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class _Value:
    value: Floats
    error: Floats


def error_function(symbols: Sequence[sp.Symbol], expression: sp.Expr) -> Callable[..., Floats]:
    """Make a function that bounds the rounding error of `lambdify`'s values.

    Parameters
    ----------
    symbols
        The arguments of the function, in order; they are taken to be exact.
    expression
        The expression that `lambdify` was given.

    Returns
    -------
    callable
        Takes one array or number a symbol; gives the bound, infinite or NaN where nothing can be
        said.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> bound = error_function([x], x - sp.sin(x))
    >>> bool(1e-20 < bound(1e-3) < 1e-18)
    True
    """
    steps: Tape[_Value] = tape(careful(expression), symbols)

    def function(*arguments: ArrayLike) -> Floats:
        arrays = [np.asarray(argument, dtype=np.float64) for argument in arguments]
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        with np.errstate(all="ignore"):
            error = steps.run([_Value(array, np.zeros(())) for array in arrays], _ARITHMETIC).error
        return np.broadcast_to(error, shape)

    return function


class _RunningError:
    """Values with first-order bounds on their errors."""

    def number(self, value: Fraction) -> _Value:
        nearest = np.float64(nearest_double(value))
        if np.isinf(nearest):
            return _Value(np.asarray(nearest), np.asarray(np.inf))
        exact = Fraction(float(nearest)) == value
        return _Value(np.asarray(nearest), np.asarray(0.0 if exact else _EPS / 2 * abs(nearest)))

    def pi(self) -> _Value:
        return _Value(np.asarray(np.pi), np.asarray(_EPS))

    def add(self, a: _Value, b: _Value) -> _Value:
        return _round(a.value + b.value, a.error + b.error)

    def multiply(self, a: _Value, b: _Value) -> _Value:
        return _round(a.value * b.value, np.abs(a.value) * b.error + np.abs(b.value) * a.error)

    def divide(self, a: _Value, b: _Value) -> _Value:
        value = a.value / b.value
        spread = np.where(b.error == 0, 0.0, np.where(b.error < _HALF * np.abs(b.value), b.error, np.inf))
        return _round(value, (a.error + np.abs(value) * spread) / np.abs(b.value))

    def rational_power(self, a: _Value, exponent: Fraction) -> _Value:
        if exponent == 1:
            return a
        power = float(exponent)
        value = a.value**power
        relative = np.where(a.error == 0, 0.0, a.error / np.abs(a.value))
        spread = np.where(relative == 0, 0.0, np.where(relative < _HALF, abs(power) * relative, np.inf))
        # rounding of the exponent counts too, where it is no double
        inexact = 0.0 if Fraction(power) == exponent else abs(power) * _EPS
        slope = np.where(a.value == 0, 0.0, inexact * np.abs(np.log(np.abs(a.value))))
        return _round(value, np.where(value == 0, 0.0, np.abs(value) * (spread + slope)))

    def power(self, a: _Value, exponent: _Value) -> _Value:
        value = a.value**exponent.value
        relative = np.where(a.error == 0, 0.0, np.abs(exponent.value) * a.error / np.abs(a.value))
        slope = np.where(exponent.error == 0, 0.0, exponent.error * np.abs(np.log(np.abs(a.value))))
        return _round(value, np.where(value == 0, 0.0, np.abs(value) * (relative + slope)))

    def call(self, name: str, *arguments: _Value) -> _Value:
        (a,) = arguments
        value = _VALUES[name](a.value)
        slope = np.abs(_SLOPES[name](a.value, value))
        return _round(value, np.where(a.error == 0, 0.0, slope * a.error), ulps=2.0)


_HALF = 0.5
_ARITHMETIC = _RunningError()


def _round(value: Floats, carried: Floats, ulps: float = 0.5) -> _Value:
    return _Value(np.asarray(value), np.asarray(carried + ulps * _EPS * np.abs(value) + _TINY))


_VALUES: Mapping[str, Callable[[Floats], Floats]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "absolute": np.abs,
    "direction": np.sign,
    "spike": np.zeros_like,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": special.erf,
}
_SLOPES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "exp": lambda _, y: y,
    "expm1": lambda _, y: y + 1,
    "log": lambda x, _: 1 / x,
    "log1p": lambda x, _: 1 / (1 + x),
    "sin": lambda x, _: np.cos(x),
    "cos": lambda x, _: np.sin(x),
    "tan": lambda _, y: 1 + y * y,
    "asin": lambda x, _: 1 / np.sqrt(1 - x * x),
    "acos": lambda x, _: 1 / np.sqrt(1 - x * x),
    "atan": lambda x, _: 1 / (1 + x * x),
    "absolute": lambda x, _: np.ones_like(x),
    "direction": lambda x, _: np.where(x == 0, np.inf, 0.0),
    "spike": lambda x, _: np.where(x == 0, np.inf, 0.0),
    "sinh": lambda x, _: np.cosh(x),
    "cosh": lambda x, _: np.sinh(x),
    "tanh": lambda _, y: 1 - y * y,
    "erf": lambda x, _: 2 / np.sqrt(np.pi) * np.exp(-x * x),
}
