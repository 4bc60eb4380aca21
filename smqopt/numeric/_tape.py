"""An expression as a list of elementary steps, to be run in any arithmetic.

Floating point is left to `lambdify`. The tape serves the arithmetics that check it: balls, series
of balls, and running error bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar, cast

import sympy as sp

from smqopt.numeric._work import A_TERM, count_work

FUNCTIONS = frozenset({
    "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf",
    "absolute", "direction", "spike",
})  # fmt: skip
"""The functions that every arithmetic knows, by the names of their SymPy classes."""
MOMENTS = frozenset({"exponential_moment", "power_moment"})
"""Functions of several arguments, which balls alone know."""

T = TypeVar("T")


class Arithmetic(Protocol[T]):
    """What a tape can be run in."""

    def number(self, value: Fraction) -> T:
        """Return an exact rational."""

    def pi(self) -> T:
        """Return π."""

    def add(self, a: T, b: T) -> T:
        """Return a + b."""

    def multiply(self, a: T, b: T) -> T:
        """Return a b."""

    def divide(self, a: T, b: T) -> T:
        """Return a/b."""

    def rational_power(self, a: T, exponent: Fraction) -> T:
        """Return a to a constant rational power."""

    def power(self, a: T, exponent: T) -> T:
        """Return a to a varying power."""

    def call(self, name: str, *arguments: T) -> T:
        """Return one of `FUNCTIONS` at its argument, or one of `MOMENTS`."""


@dataclass(frozen=True)
class _TapeStep:
    operation: str
    inputs: tuple[int, ...] = ()
    value: Fraction = Fraction(0)


@dataclass(frozen=True)
class Tape(Generic[T]):
    """The steps of one expression; each refers to earlier ones."""

    symbols: tuple[sp.Symbol, ...]
    steps: tuple[_TapeStep, ...]

    def run(self, arguments: Sequence[T], arithmetic: Arithmetic[T]) -> T:
        """Evaluate the expression.

        Parameters
        ----------
        arguments
            One value a symbol, in the order of `symbols`.
        arithmetic
            What the values are, and how they are reckoned with.
        """
        count_work(A_TERM * len(self.steps))
        values: list[T] = list(arguments)
        for step in self.steps:
            inputs = [values[i] for i in step.inputs]
            match step.operation:
                case "number":
                    values.append(arithmetic.number(step.value))
                case "pi":
                    values.append(arithmetic.pi())
                case "add":
                    values.append(arithmetic.add(inputs[0], inputs[1]))
                case "multiply":
                    values.append(arithmetic.multiply(inputs[0], inputs[1]))
                case "divide":
                    values.append(arithmetic.divide(inputs[0], inputs[1]))
                case "rational power":
                    values.append(arithmetic.rational_power(inputs[0], step.value))
                case "power":
                    values.append(arithmetic.power(inputs[0], inputs[1]))
                case name:
                    values.append(arithmetic.call(name, *inputs))
        return values[-1]

    def binder(self, arithmetic: Arithmetic[T]) -> Callable[[Sequence[T]], Callable[[T], T]]:
        """Return what fixes all variables but the first, so that only the rest is run.

        Parameters
        ----------
        arithmetic
            What the values are, and how they are reckoned with.
        """
        moving: list[tuple[int, Callable[[list[T]], T]]] = []
        still: list[tuple[int, Callable[[list[T]], T]]] = []
        varies = [k == 0 for k in range(len(self.symbols))]
        for place, step in enumerate(self.steps, len(varies)):
            varies.append(any(varies[i] for i in step.inputs))
            (moving if varies[-1] else still).append((place, _prepare(step, arithmetic)))

        def bind(fixed: Sequence[T]) -> Callable[[T], T]:
            values = cast("list[T]", [None, *fixed, *[None] * len(self.steps)])
            for place, work in still:
                values[place] = work(values)

            def function(first: T) -> T:
                count_work(A_TERM * len(moving))
                row = values.copy()
                row[0] = first
                for place, work in moving:
                    row[place] = work(row)
                return row[-1]

            return function

        return bind


def _prepare(step: _TapeStep, arithmetic: Arithmetic[T]) -> Callable[[list[T]], T]:
    """Return what one step does to the values before it."""
    i, j = (*step.inputs, 0, 0)[:2]
    match step.operation:
        case "number":
            value = step.value
            return lambda _: arithmetic.number(value)
        case "pi":
            return lambda _: arithmetic.pi()
        case "add":
            return lambda row: arithmetic.add(row[i], row[j])
        case "multiply":
            return lambda row: arithmetic.multiply(row[i], row[j])
        case "divide":
            return lambda row: arithmetic.divide(row[i], row[j])
        case "rational power":
            exponent = step.value
            return lambda row: arithmetic.rational_power(row[i], exponent)
        case "power":
            return lambda row: arithmetic.power(row[i], row[j])
        case name:
            return lambda row: arithmetic.call(name, *(row[k] for k in step.inputs))


def tape(expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> Tape[T]:
    """Write an expression down as steps; equal parts are worked out once.

    Raises
    ------
    ValueError
        If the expression holds a symbol that is not given or a function that is not among
        `FUNCTIONS`.
    """
    writer = _Writer(symbols)
    last = writer.place(expression)
    if last != len(symbols) + len(writer.steps) - 1:  # the result is an argument or an earlier part: copy it to the end
        writer.add(_TapeStep("rational power", (last,), Fraction(1)))
    return Tape(tuple(symbols), tuple(writer.steps))


class _Writer:
    def __init__(self, symbols: Sequence[sp.Symbol]) -> None:
        self.count = len(symbols)
        self.steps: list[_TapeStep] = []
        self.places: dict[sp.Expr, int] = {symbol: i for i, symbol in enumerate(symbols)}

    def add(self, step: _TapeStep) -> int:
        self.steps.append(step)
        return self.count + len(self.steps) - 1

    def place(self, expression: sp.Expr) -> int:
        if expression not in self.places:
            self.places[expression] = self._write(expression)
        return self.places[expression]

    def _write(self, expression: sp.Expr) -> int:
        if expression.is_Rational:
            return self.add(_TapeStep("number", value=Fraction(int(expression.p), int(expression.q))))
        if expression is sp.pi:
            return self.add(_TapeStep("pi"))
        if expression is sp.E:
            return self.add(_TapeStep("exp", (self.place(sp.Integer(1)),)))
        if expression.is_Add:
            return self._join("add", expression.args)
        if expression.is_Mul:
            below = [factor for factor in expression.args if _is_divisor(factor)]
            if below:
                above = [factor for factor in expression.args if not _is_divisor(factor)]
                top = self._join("multiply", above) if above else self.place(sp.Integer(1))
                bottom = self._join("multiply", [sp.Pow(factor.base, -factor.exp) for factor in below])
                return self.add(_TapeStep("divide", (top, bottom)))
            return self._join("multiply", expression.args)
        if _is_divisor(expression):
            return self.add(
                _TapeStep("divide", (self.place(sp.Integer(1)), self.place(sp.Pow(expression.base, -expression.exp))))
            )
        if expression.is_Pow and expression.base is not sp.E:
            if expression.exp.is_Rational:
                exponent = Fraction(int(expression.exp.p), int(expression.exp.q))
                return self.add(_TapeStep("rational power", (self.place(expression.base),), exponent))
            return self.add(_TapeStep("power", (self.place(expression.base), self.place(expression.exp))))
        name = "exp" if expression.is_Pow else type(expression).__name__.removeprefix("exact_")
        if name in MOMENTS:
            return self.add(_TapeStep(name, tuple(self.place(argument) for argument in expression.args)))
        if isinstance(expression, sp.cot):  # SymPy's name for a tangent a quarter turn on
            return self.place(1 / sp.tan(*expression.args, evaluate=False))
        if name not in FUNCTIONS:
            what = f"symbol {expression}" if name == "Symbol" else f"function {name}"
            raise ValueError(f"the {what} is not known here")
        return self.add(_TapeStep(name, (self.place(expression.args[-1]),)))

    def _join(self, operation: str, parts: Sequence[sp.Expr]) -> int:
        places = [self.place(part) for part in parts]
        result = places[0]
        for other in places[1:]:
            result = self.add(_TapeStep(operation, (result, other)))
        return result


def _is_divisor(factor: sp.Expr) -> bool:
    return bool(factor.is_Pow and factor.base is not sp.E and factor.exp.is_Rational and factor.exp < 0)
