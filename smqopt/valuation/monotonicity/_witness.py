"""Two doubles between which a function falls, proved in balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from smqopt.algebra import THETA
from smqopt.numeric import Ball, ball, ball_function, precision
from smqopt.valuation.expression._symbolic_law import SymbolicLaw

BITS = 256
"""Precision of the balls."""
GRID = 257
"""Points at which a fall is looked for first."""
HALVINGS = 60
"""Then pairs round a point are tried, each half as far from it as the one before, so many times."""

Pair = tuple[float, float]


def proved_fall(
    exact: SymbolicLaw,
    low: Fraction,
    high: Fraction,
    point: Fraction,
    value: Callable[[Ball, Ball, Ball], Ball],
) -> tuple[Pair, Pair] | None:
    """Return θ₁ < θ₂ with the larger value at θ₁, and the values; else None.

    Parameters
    ----------
    exact
        The law of one owner with exact numbers.
    low, high
        The ends of its support.
    point
        Where the derivative of the function is negative.
    value
        The function, of the balls θ, F(θ) and f(θ).
    """
    F, f = ball_function(exact.cdf, [THETA]), ball_function(exact.pdf, [THETA])

    return falling_pair(lambda t: value(ball(t), F(ball(t)), f(ball(t))), low, high, point)


def falling_pair(
    at: Callable[[float], Ball], low: Fraction, high: Fraction, point: Fraction
) -> tuple[Pair, Pair] | None:
    """Return θ₁ < θ₂ with the larger value at θ₁, and the values; else None.

    Parameters
    ----------
    at
        The function, at a double.
    low, high, point
        As for `proved_fall`.
    """
    with precision(BITS):
        for first, second in _pairs(at, low, high, point):
            values = at(first), at(second)
            if values[0] > values[1]:
                return (first, second), (float(values[0].mid()), float(values[1].mid()))
    return None


def _pairs(at: Callable[[float], Ball], low: Fraction, high: Fraction, point: Fraction) -> Iterator[Pair]:
    """Return pairs of doubles that may show the fall.

    The deepest fall on a grid, then ever closer round a point.
    """
    grid = [float(low + (high - low) * Fraction(k, GRID - 1)) for k in range(1, GRID - 1)]
    highest, best, pair = -math.inf, 0.0, None
    start = grid[0]
    for t, value in zip(grid, (float(at(t).mid()) for t in grid), strict=True):
        if math.isfinite(value) and value > highest:
            highest, start = value, t
        if highest - value > best:
            best, pair = highest - value, (start, t)
    if pair is not None:
        yield pair
    for k in range(1, HALVINGS):
        step = (high - low) * Fraction(1, 2**k)
        first, second = float(max(point - step, low)), float(min(point + step, high))
        if first < second:
            yield first, second
