"""Formulas from text: parsed by an allow-list, never evaluated as code.

A formula may hold numbers, `theta`, `pi`, declared names, + − * / **, parentheses and a few
functions. Everything else is refused. Numbers are taken exactly: 0.1 is 1/10. Limits on size keep a
hostile formula from costing time or memory.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from smqopt.algebra.expression._absolute import absolute, direction
from smqopt.algebra.expression._exact_log import power as power_of
from smqopt.algebra.expression._renaming import MAX_LENGTH
from smqopt.errors import InputError, nearest

THETA = sp.Symbol("theta", nonnegative=True)
"""The valuation θ; real and never negative, as low ≥ 0."""

FUNCTIONS: Mapping[str, Callable[[sp.Expr], sp.Expr]] = {
    "exp": sp.exp,
    "log": sp.log,
    "sqrt": sp.sqrt,
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "asin": sp.asin,
    "acos": sp.acos,
    "atan": sp.atan,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "erf": sp.erf,
    "abs": absolute,
    "sign": direction,
}
"""The functions a formula may call, each with one argument."""

PRINTED = frozenset({"absolute", "sign", "expm1", "log1p", "arcsin", "arccos", "arctan", "sqrt"}) | frozenset(
    {"numpy", "select", "nan", "inf", "real_lambertw", "log_wright_omega_1p", "wrightomega", "self"}
)
"""Names that stand in the code into which a formula is turned."""
RESERVED = frozenset({"theta", "pi", "cdf", "law", "unit", "low", "high", "text"}) | FUNCTIONS.keys() | PRINTED
"""Names with a meaning of their own, which a parameter cannot take."""

MAX_DEPTH = 60
"""Nested operations in a formula."""
MAX_EXPONENT = 1_000
"""Largest number as an exponent, and largest product of nested ones."""
MAX_BITS = 20_000
"""Bits of the numerator and denominator of a number."""
MAX_DECIMAL_EXPONENT = 400
"""Largest power of ten in a number."""
SHORT = 8
"""Digits of a number that is only compared."""
MAX_SHOWN = 40
"""Characters of a formula that an error quotes."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_WORD = re.compile(r"(?<![\w.])[A-Za-z]\w*")
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,6}))?")
_FOREIGN = re.compile(r"[^A-Za-z0-9_+\-*/().,^ ]")
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], sp.Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def parse(text: object, names: Mapping[str, sp.Expr], where: str = "formula") -> sp.Expr:
    """Turn the text of a formula into an expression.

    Parameters
    ----------
    text
        The formula, in `theta`, `pi`, the given names, numbers, `+ - * / **`, parentheses, and
        `FUNCTIONS`.
    names
        What each declared name stands for: a symbol, or an exact number.
    where
        What to call the formula in an error.

    Raises
    ------
    InputError
        If the text is no such formula, is too large, or holds a number that is not real.

    Examples
    --------
    >>> parse("theta**2 * (3 - 2*theta)", {})
    theta**2*(3 - 2*theta)
    >>> parse("0.1*theta", {})
    theta/10
    """
    if not isinstance(text, str):
        raise InputError(where, "must be a formula as text", value=text, remedy='write, say, "theta**2"')
    if len(text) > MAX_LENGTH:
        raise InputError(where, f"must have at most {MAX_LENGTH} characters", value=len(text), remedy="shorten it")
    flat = " ".join(text.split())
    if not flat:
        raise InputError(where, "is empty", remedy='write, say, "theta**2"')
    foreign = _FOREIGN.search(flat)
    if foreign:
        remedy = "write 'theta'" if foreign.group() == "θ" else "use names, numbers, + - * / **, and parentheses"
        raise InputError(where, "holds a character that no formula has", value=foreign.group(), remedy=remedy)
    if "^" in flat:
        raise InputError(where, "'^' is not a power here", value=_shown(flat), remedy="use ** for powers")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(flat, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InputError(
            where, "is not a formula", value=_shown(flat), remedy="check its operators and parentheses"
        ) from error
    return _Reader(flat, names, where).read(tree.body, 0, Fraction(1))


def names_in(text: str) -> frozenset[str]:
    """Return the names that stand in a formula, those of functions included."""
    return frozenset(_WORD.findall(text))


def check_name(name: str, where: str) -> None:
    """Check that a parameter may carry a name.

    Raises
    ------
    InputError
        If the name is no identifier, or already means something.
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise InputError(
            where, "a parameter needs a plain name", value=name, remedy="use letters, digits and underscores"
        )
    if name in RESERVED:
        raise InputError(
            where, "the name has a meaning of its own", value=name, remedy="give the parameter another name"
        )


def rational(x: float) -> sp.Rational:
    """Return a double as the exact rational that it is.

    Examples
    --------
    >>> rational(0.75)
    3/4
    """
    return sp.Rational(*float(x).as_integer_ratio())


def decimal(x: float) -> sp.Rational:
    """Return a double as the shortest decimal that is read as it.

    Examples
    --------
    >>> decimal(0.54)
    27/50
    """
    return sp.Rational(repr(float(x)))


class _Reader:
    """Reads one syntax tree into an expression."""

    def __init__(self, text: str, names: Mapping[str, sp.Expr], where: str) -> None:
        self.text = text
        self.names = {"theta": THETA, "pi": sp.pi, **names}
        self.where = where

    def read(self, node: ast.expr, depth: int, power: Fraction) -> sp.Expr:
        if depth > MAX_DEPTH:
            raise InputError(self.where, f"is nested deeper than {MAX_DEPTH}", remedy="flatten it")
        match node:
            case ast.Constant():
                return self._number(node)
            case ast.Name():
                return self._name(node)
            case ast.UnaryOp(op=ast.UAdd() | ast.USub()):
                operand = self.read(node.operand, depth + 1, power)
                return -operand if isinstance(node.op, ast.USub) else operand
            case ast.BinOp() if type(node.op) is ast.Pow:
                exponent = self.read(node.right, depth + 1, Fraction(1))
                inner = power
                if exponent.is_Rational:
                    inner = power * max(Fraction(1), abs(Fraction(int(exponent.p), int(exponent.q))))
                if inner > MAX_EXPONENT:
                    raise InputError(
                        self.where,
                        f"exponents may not exceed {MAX_EXPONENT}",
                        value=self._source(node),
                        remedy="lower it",
                    )
                base = self.read(node.left, depth + 1, inner)
                self._check_size_of_power(base, exponent, node)
                self._check_base(base, exponent, node)
                return self._sane(power_of(base, exponent).replace(sp.Abs, absolute), node)
            case ast.BinOp() if type(node.op) in _BINARY:
                left, right = self.read(node.left, depth + 1, power), self.read(node.right, depth + 1, power)
                return self._sane(_BINARY[type(node.op)](left, right), node)
            case ast.Call():
                return self._call(node, depth)
            case _:
                raise InputError(
                    self.where,
                    "holds something that no formula has",
                    value=self._source(node),
                    remedy="use names, numbers, + - * / **, parentheses and " + ", ".join(FUNCTIONS),
                )

    def _number(self, node: ast.Constant) -> sp.Expr:
        source = self._source(node, whole=True)
        match = _NUMBER.fullmatch(source)
        if not match:
            raise InputError(
                self.where,
                "holds something that is not a plain number",
                value=_shown(source),
                remedy="write 0.5 or 5e-1",
            )
        if match.group(1) and abs(int(match.group(1))) > MAX_DECIMAL_EXPONENT:
            raise InputError(
                self.where, "holds a number out of range", value=_shown(source), remedy="choose another unit"
            )
        exact = Fraction(source)
        return self._sane(sp.Rational(exact.numerator, exact.denominator), node)

    def _name(self, node: ast.Name) -> sp.Expr:
        if node.id in FUNCTIONS:
            raise InputError(self.where, f"{node.id!r} needs an argument", remedy=f"write {node.id}(...)")
        if node.id not in self.names:
            raise InputError(self.where, f"the name {node.id!r} is unknown", remedy=nearest(node.id, self.names))
        return self.names[node.id]

    def _call(self, node: ast.Call, depth: int) -> sp.Expr:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            called = self._source(node.func)
            raise InputError(self.where, f"may not call {called!r}", remedy=nearest(called, FUNCTIONS))
        if len(node.args) != 1 or node.keywords:
            raise InputError(
                self.where, f"{node.func.id} takes one argument", value=self._source(node), remedy="correct the call"
            )
        argument = self.read(node.args[0], depth + 1, Fraction(1))
        if node.func.id == "exp":
            self._check_size_of_power(sp.E, argument, node)
        value = FUNCTIONS[node.func.id](argument)
        value = value.replace(sp.cot, lambda x: sp.cos(x) / sp.sin(x))  # SymPy's for tan(x + π/2)
        return self._sane(value.replace(sp.Abs, absolute), node)  # and for the root of a square

    def _check_size_of_power(self, base: sp.Expr, exponent: sp.Expr, node: ast.expr) -> None:
        """Refuse powers of numbers that would not fit, before they are worked out."""
        if exponent.is_Rational and base.is_Rational:
            bits = max(int(base.p).bit_length(), int(base.q).bit_length())
            if bits * abs(Fraction(int(exponent.p), int(exponent.q))) > MAX_BITS:
                raise InputError(self.where, "holds a number too large", value=self._source(node), remedy="rescale it")
        if exponent.is_Rational and abs(exponent) > MAX_EXPONENT and base.is_number and base is not sp.E:
            raise InputError(
                self.where, f"exponents may not exceed {MAX_EXPONENT}", value=self._source(node), remedy="lower it"
            )
        if exponent.is_number and not exponent.is_Rational and abs(exponent.evalf(SHORT)) > MAX_EXPONENT:
            raise InputError(self.where, "holds a number too large", value=self._source(node), remedy="rescale it")
        if base is sp.E and exponent.is_Rational and abs(exponent) > MAX_BITS:
            raise InputError(self.where, "holds a number too large", value=self._source(node), remedy="rescale it")
        for term in sp.Add.make_args(exponent):
            # e^(m log 2) turns into 2^m by itself
            if term.has(sp.log) and abs(term.as_coeff_Mul()[0]) > MAX_EXPONENT:
                raise InputError(self.where, "holds a number too large", value=self._source(node), remedy="rescale it")

    def _check_base(self, base: sp.Expr, exponent: sp.Expr, node: ast.expr) -> None:
        """Refuse broken powers of a base that is never positive: they are not real."""
        if base.is_zero and exponent.is_positive:
            return
        if exponent.is_integer is not True and (base.is_nonpositive or base.is_extended_nonpositive):
            raise InputError(
                self.where,
                "holds a power of what is never positive, whose exponent is no whole number",
                value=self._source(node),
                remedy="take abs() of the base, or change its sign",
            )

    def _sane(self, expression: sp.Expr, node: ast.expr) -> sp.Expr:
        unreal = any(part.is_number and part.is_real is False for part in sp.preorder_traversal(expression))
        if unreal or expression.has(sp.I, sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise InputError(
                self.where, "holds a number that is not real and finite", value=self._source(node), remedy="correct it"
            )
        if expression.is_Rational and max(int(expression.p).bit_length(), int(expression.q).bit_length()) > MAX_BITS:
            raise InputError(self.where, "holds a number too large", value=self._source(node), remedy="rescale it")
        return expression

    def _source(self, node: ast.expr, *, whole: bool = False) -> str:
        source = ast.get_source_segment(self.text, node) or self.text
        return source if whole else _shown(source)


def _shown(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."
