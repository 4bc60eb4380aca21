"""Intervals between doubles, on whole arrays, rounded outwards.

IEEE 754 rounds sums, differences, products, quotients and square roots to nearest, so that the
neighbour on either side of a computed end bounds the exact one, underflow and overflow included. An
interval with an end that is NaN says nothing; no comparison with it holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.numeric._arrays import Floats
from smqopt.numeric._sums import exact_sum


def _down(x: Floats) -> Floats:
    return np.nextafter(x, -np.inf)


def _up(x: Floats) -> Floats:
    return np.nextafter(x, np.inf)


@dataclass(frozen=True, eq=False)
class Interval:
    """All numbers from `low` to `high`, elementwise.

    Examples
    --------
    >>> third = Interval.exact(np.array([1.0])) / Interval.exact(np.array([3.0]))
    >>> bool(third.low[0] < 1 / 3 < third.high[0])
    True
    """

    low: Floats
    high: Floats

    @classmethod
    def exact(cls, x: Floats | float) -> Interval:
        """Take doubles for the numbers they are."""
        value = np.asarray(x, dtype=np.float64)
        return cls(value, value)

    def __add__(self, other: Interval) -> Interval:
        return Interval(_down(self.low + other.low), _up(self.high + other.high))

    def __sub__(self, other: Interval) -> Interval:
        return Interval(_down(self.low - other.high), _up(self.high - other.low))

    def __mul__(self, other: Interval) -> Interval:
        corners = (self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high)
        return _hull(*corners)

    def __truediv__(self, other: Interval) -> Interval:
        corners = (self.low / other.low, self.low / other.high, self.high / other.low, self.high / other.high)
        split = (other.low <= 0) & (other.high >= 0)
        quotient = _hull(*corners)
        return Interval(np.where(split, -np.inf, quotient.low), np.where(split, np.inf, quotient.high))

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def root(self) -> Interval:
        """Return the square root; NaN where a number may be negative."""
        return Interval(np.maximum(_down(np.sqrt(self.low)), 0.0), _up(np.sqrt(self.high)))

    def nonnegative(self) -> Interval:
        """Cut off what lies below 0, known not to be meant."""
        return Interval(np.maximum(self.low, 0.0), np.maximum(self.high, 0.0))

    def power(self, exponent: int) -> Interval:
        """Return a whole power ≥ 0 of nonnegative numbers."""
        result, square = Interval.exact(np.ones_like(self.low)), self
        while exponent:
            if exponent & 1:
                result = (result * square).nonnegative()
            square = (square * square).nonnegative()
            exponent >>= 1
        return result

    def total(self) -> tuple[float, float]:
        """Return two doubles that enclose the sum of the numbers."""
        low = math.nextafter(exact_sum(self.low), -math.inf) if np.any(self.low) else 0.0
        return low, math.nextafter(exact_sum(self.high), math.inf) if np.any(self.high) else 0.0


def _hull(*corners: Floats) -> Interval:
    low, high = corners[0], corners[0]
    for corner in corners[1:]:
        low, high = np.minimum(low, corner), np.maximum(high, corner)
    return Interval(_down(low), _up(high))
