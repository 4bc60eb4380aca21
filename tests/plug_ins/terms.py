"""Formulas that are text and function at once: the text goes to the package, the function is the truth about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import scipy.special

__all__ = ["THETA", "Digits", "Doubles", "Term", "function", "name", "number"]

Environment = dict[str, Any]


class Doubles:
    """The functions of formulas, on arrays of doubles."""

    exp, log, sqrt, sin, cos, tan = np.exp, np.log, np.sqrt, np.sin, np.cos, np.tan
    atan, sinh, cosh, tanh, erf = np.arctan, np.sinh, np.cosh, np.tanh, scipy.special.erf

    @staticmethod
    def number(text):
        return float(Fraction(text))


class Digits:
    """The same in mpmath, point by point."""

    exp, log, sqrt, sin, cos, tan = mpmath.exp, mpmath.log, mpmath.sqrt, mpmath.sin, mpmath.cos, mpmath.tan
    atan, sinh, cosh, tanh, erf = mpmath.atan, mpmath.sinh, mpmath.cosh, mpmath.tanh, mpmath.erf

    @staticmethod
    def number(text):
        exact = Fraction(text)
        return mpmath.mpf(exact.numerator) / exact.denominator


@dataclass(frozen=True)
class Term:
    """A formula; its value is found in an environment of names, with the functions under "lib"."""

    text: str
    value: Callable[[Environment], Any]

    def __add__(self, other: Term | str) -> Term:
        b = _term(other)
        return Term(f"({self.text} + {b.text})", lambda e: self.value(e) + b.value(e))

    def __sub__(self, other: Term | str) -> Term:
        b = _term(other)
        return Term(f"({self.text} - {b.text})", lambda e: self.value(e) - b.value(e))

    def __mul__(self, other: Term | str) -> Term:
        b = _term(other)
        return Term(f"{self.text}*{b.text}", lambda e: self.value(e) * b.value(e))

    def __truediv__(self, other: Term | str) -> Term:
        b = _term(other)
        return Term(f"{self.text}/{_tight(b.text)}", lambda e: self.value(e) / b.value(e))

    def __pow__(self, other: Term | str) -> Term:
        b = _term(other)
        return Term(f"{_tight(self.text)}**{_tight(b.text)}", lambda e: self.value(e) ** b.value(e))

    def __call__(self, lib: type, **names: Any) -> Any:
        """Give the value in one of the two arithmetics."""
        return self.value({"lib": lib, **names})


def number(text: object) -> Term:
    """Give a number as it is written; a negative one in parentheses."""
    written = str(text)
    shown = f"({written})" if written.startswith("-") else written
    return Term(shown, lambda e: e["lib"].number(written))


def name(word: str) -> Term:
    """Give a name."""
    return Term(word, lambda e: e[word])


def function(word: str, argument: Term) -> Term:
    """Give a function of a term."""
    inside = argument.text
    inside = inside[1:-1] if _wrapped(inside) else inside
    return Term(f"{word}({inside})", lambda e: getattr(e["lib"], word)(argument.value(e)))


THETA = name("theta")


def _term(other: Term | str) -> Term:
    return other if isinstance(other, Term) else number(other)


def _tight(text: str) -> str:
    return text if text.isalnum() or _wrapped(text) else f"({text})"


def _wrapped(text: str) -> bool:
    """Tell whether one pair of parentheses holds the whole text."""
    if not text.startswith("("):
        return False
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return k == len(text) - 1
    return False
