"""A logarithmic axis: powers of ten as ticks, and zero at the foot."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.document._number_format import shown

_MOST_TICKS = 6
_FOOT = 0.08
"""The share of the axis between zero and the least power of ten."""


@dataclass(frozen=True)
class LogAxis:
    """An axis from 10^`low` to 10^`high`, with zero, where shown, at its start."""

    low: int
    high: int
    start: float
    end: float
    zero: bool = False

    @property
    def _first(self) -> float:
        """The place of 10^low."""
        return self.start + (_FOOT * (self.end - self.start) if self.zero else 0.0)

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the places of values; those that are not positive are at the start."""
        positive = values > 0
        powers = np.log10(np.where(positive, values, 1.0))
        share = (np.clip(powers, self.low, self.high) - self.low) / (self.high - self.low)
        return np.where(positive, self._first + share * (self.end - self._first), self.start)

    def place(self, value: float) -> float:
        """Return the place of one value."""
        return float(self.places(np.array([value]))[0])

    def ticks(self) -> list[tuple[float, str]]:
        """Return powers of ten on the axis with their labels, and zero where shown."""
        step = max(1, math.ceil((self.high - self.low) / _MOST_TICKS))
        powers = [(10.0**k, shown(10.0**k)) for k in range(self.low, self.high + 1, step)]
        return [(0.0, "0"), *powers] if self.zero else powers


def log_spanning(values: Iterable[float], start: float, end: float) -> LogAxis:
    """Make an axis that holds all values ≥ 0, widened to whole powers of ten.

    Examples
    --------
    >>> axis = log_spanning([0.0, 30.0, 4000.0], 0, 100)
    >>> [label for _, label in axis.ticks()], axis.place(0.0), axis.place(10.0), axis.place(10000.0)
    (['0', '10', '100', '1,000', '10,000'], 0.0, 8.0, 100.0)
    """
    found = [value for value in values if math.isfinite(value)]
    positive = [value for value in found if value > 0]
    low = math.floor(math.log10(min(positive))) if positive else 0
    high = math.ceil(math.log10(max(positive))) if positive else 1
    return LogAxis(low, max(high, low + 1), start, end, any(value <= 0 for value in found))
