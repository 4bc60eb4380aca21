"""Expressions and records of a derivation as plain data, by an allow-list."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.functions.elementary.piecewise import ExprCondPair

from smqopt.algebra import LETTERS, absolute, direction, spike

_KEEPING = (sp.Add, sp.Mul, sp.Pow, sp.Piecewise, sp.Ge, sp.Gt, sp.Le, sp.Lt, sp.Eq, sp.Ne)
"""Heads that would rewrite their arguments unless told not to."""
_FUNCTIONS = (
    *(sp.exp, sp.log, sp.erf, sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan),
    *(sp.sinh, sp.cosh, sp.tanh, sp.Abs, absolute, direction, spike),
    *(sp.LambertW, sp.lowergamma, sp.uppergamma, sp.gamma, sp.beta, sp.betainc, sp.factorial),
)
_PLAIN = (sp.Derivative, sp.Integral, sp.Sum, sp.Tuple, ExprCondPair, sp.Indexed, sp.Max, sp.Min)
_HEADS: Mapping[str, Any] = {head.__name__: head for head in (*_KEEPING, *_FUNCTIONS, *_PLAIN)}
_CONSTANTS: Mapping[str, sp.Basic] = {
    type(constant).__name__: constant for constant in (sp.oo, -sp.oo, sp.pi, sp.E, sp.S.true, sp.S.false)
}
_LETTER_FUNCTIONS: Mapping[str, Any] = {
    letter.__name__: letter for letter in LETTERS if isinstance(letter, UndefinedFunction)
}
_INDEXED: Mapping[str, sp.IndexedBase] = {
    str(letter.label): letter for letter in LETTERS if isinstance(letter, sp.IndexedBase)
}


class UnknownPartError(ValueError):
    """Something that the allow-list does not hold."""


def to_data(thing: object, records: Mapping[str, type]) -> Any:
    """Write an expression, a record or a tuple of them as data for JSON.

    Parameters
    ----------
    thing
        An expression, a dataclass or an enumeration's member of `records`, a tuple, or a plain
        value.
    records
        The dataclasses and enumerations that may occur, by name.

    Raises
    ------
    UnknownPartError
        If it holds anything else.

    Examples
    --------
    >>> to_data(sp.Symbol("k", positive=True) + 1, {})[0]
    'Add'
    """
    if thing is None or isinstance(thing, bool | int | str):
        return thing
    if isinstance(thing, tuple):
        return {"tuple": [to_data(part, records) for part in thing]}
    name = type(thing).__name__
    if isinstance(thing, enum.Enum) and records.get(name) is type(thing):
        return {"member": [name, thing.name]}
    if dataclasses.is_dataclass(thing) and records.get(name) is type(thing):
        fields = {field.name: to_data(getattr(thing, field.name), records) for field in dataclasses.fields(thing)}
        return {"record": [name, fields]}
    if isinstance(thing, sp.Basic):
        return _expression_to_data(thing)
    raise UnknownPartError(name)


def from_data(data: Any, records: Mapping[str, type]) -> Any:
    """Build what `to_data` wrote.

    Raises
    ------
    UnknownPartError
        If the data hold something that is not in the allow-list.
    """
    match data:
        case None | bool() | int() | str():
            return data
        case list():
            return _expression_from_data(data)
        case {"tuple": list(parts)}:
            return tuple(from_data(part, records) for part in parts)
        case {"member": [str(name), str(member)]} if issubclass(records.get(name, object), enum.Enum):
            return _member(records[name], member)
        case {"record": [str(name), dict(fields)]} if dataclasses.is_dataclass(records.get(name)):
            return _record(records[name], {key: from_data(value, records) for key, value in fields.items()})
        case _:
            raise UnknownPartError(str(data)[:40])


def _member(kind: Any, name: str) -> object:
    if name not in kind.__members__:
        raise UnknownPartError(name)
    return kind[name]


def _record(kind: Any, fields: dict[str, object]) -> object:
    if set(fields) != {field.name for field in dataclasses.fields(kind)}:
        raise UnknownPartError(kind.__name__)
    return kind(**fields)


def _expression_to_data(expression: sp.Basic) -> list[Any]:
    name = type(expression).__name__
    if isinstance(expression, sp.Rational):
        return ["number", str(expression.p), str(expression.q)]
    if _CONSTANTS.get(name) == expression:
        return ["constant", name]
    if isinstance(expression, sp.Symbol) and type(expression) is sp.Symbol:
        known = {key: value for key, value in expression.assumptions0.items() if value is not None}
        return ["symbol", expression.name, known]
    if isinstance(expression, sp.IndexedBase) and _INDEXED.get(str(expression.label)) == expression:
        return ["indexed", str(expression.label)]
    if isinstance(expression, AppliedUndef) and _LETTER_FUNCTIONS.get(name) == expression.func:
        return ["letter", name, *map(_expression_to_data, expression.args)]
    if isinstance(expression, sp.Limit):
        inner, variable, place, side = expression.args
        return ["limit", str(side), *map(_expression_to_data, (inner, variable, place))]
    if _HEADS.get(name) is type(expression):
        return [name, *map(_expression_to_data, expression.args)]
    raise UnknownPartError(name)


def _expression_from_data(data: list[Any]) -> sp.Basic:
    match data:
        case ["number", str(p), str(q)] if p.removeprefix("-").isdecimal() and q.isdecimal() and int(q):
            return sp.Rational(int(p), int(q))
        case ["constant", str(name)] if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ["symbol", str(name), dict(known)] if all(isinstance(value, bool) for value in known.values()):
            return sp.Symbol(name, **known)
        case ["indexed", str(name)] if name in _INDEXED:
            return _INDEXED[name]
        case ["letter", str(name), *arguments] if name in _LETTER_FUNCTIONS:
            return _LETTER_FUNCTIONS[name](*_all(arguments))
        case ["limit", "+" | "-" as side, *arguments]:
            inner, variable, place = _all(arguments)
            return sp.Limit(inner, variable, place, side)
        case [str(name), *arguments] if name in _HEADS:
            head = _HEADS[name]
            return head(*_all(arguments)) if head in _PLAIN else head(*_all(arguments), evaluate=False)
        case _:
            raise UnknownPartError(str(data)[:40])


def _all(arguments: list[Any]) -> list[sp.Basic]:
    if not all(isinstance(argument, list) for argument in arguments):
        raise UnknownPartError(str(arguments)[:40])
    return [_expression_from_data(argument) for argument in arguments]
