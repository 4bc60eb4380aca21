"""The order to which an expression vanishes at an end of an interval, proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from smqopt.algebra.decision._sturm import exact
from smqopt.algebra.expression._exact_log import in_primes, replace
from smqopt.algebra.expression._rational_part import vanishes
from smqopt.numeric import Ball, ball, series_function

MAX_ORDER = 8
"""Order to which a zero at an end of the interval is resolved, less one."""
MAX_OPERATIONS = 3_000
"""Derivatives with more operations are not looked at: of quotients each is three times as long."""
SIGN_BITS = 192
"""Working precision of the balls."""


@dataclass(frozen=True)
class SignDomain:
    """Where a sign is asked for: x between two ends, and balls of other symbols."""

    x: sp.Symbol
    low: Fraction
    high: Fraction
    box: Mapping[sp.Symbol, Ball]


@dataclass(frozen=True)
class EndOrder:
    """The coefficients below `order` are zero at an end.

    `coefficients` gives balls of all of them.
    """

    order: int
    coefficients: object


def order_at(expression: sp.Expr, domain: SignDomain, end: Fraction) -> EndOrder | None:
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
            return EndOrder(order, coefficients) if order else None
        if derivative.count_ops() > MAX_OPERATIONS:
            return None
        if not vanishes(in_primes(replace(derivative, x, exact(end)))):
            return None
        derivative = sp.diff(derivative, x)
    return None


def positive_beside(end: EndOrder | None, piece: Ball, *, above: bool) -> bool:
    """Say whether Taylor's formula at an end proves a piece nonnegative."""
    if end is None:
        return False
    leading = end.coefficients(piece)[end.order]  # type: ignore[operator]
    return bool(leading >= 0) if above or end.order % 2 == 0 else bool(leading <= 0)
