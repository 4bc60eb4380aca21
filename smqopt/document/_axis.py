"""A linear axis: values to places on the picture, and round values for its ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.document._number_format import column

_TICKS = 5
"""About so many steps an axis has."""
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
"""A step is one of these times a power of ten."""

_ON_A_MARK = 1e-9
"""An end within this share of a step of a mark is on it."""
_NEGLIGIBLE = 1e-9
"""A range this small beside its values is drawn as one value."""
_SMALLEST = 1e-280
"""So is a range this small in itself: round steps within it must still be doubles with all their
digits."""


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high`, drawn from place `start` to place `end`."""

    low: float
    high: float
    start: float
    end: float

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the places of values, clipped to the axis."""
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    def place(self, value: float) -> float:
        """Return the place of one value, clipped to the axis."""
        return float(self.places(np.array([value]))[0])

    def ticks(self) -> list[tuple[float, str]]:
        """Return round values on the axis, with their labels."""
        step = round_step((self.high - self.low) / _TICKS)
        first, last = math.ceil(self.low / step - _ON_A_MARK), math.floor(self.high / step + _ON_A_MARK)
        values = [k * step for k in range(first, last + 1)]
        return list(zip(values, _labels(values, step), strict=True))


def spanning(low: float, high: float, start: float, end: float) -> Axis:
    """Make an axis that holds the values from low to high, to whole steps.

    Examples
    --------
    >>> axis = spanning(0.03, 0.97, 0, 100)
    >>> axis.low, axis.high, [label for _, label in axis.ticks()]
    (0.0, 1.0, ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0'])
    """
    if not high - low > max(_NEGLIGIBLE * max(abs(low), abs(high)), _SMALLEST):
        margin = abs(low) / 2 if abs(low) > _SMALLEST else 0.5
        low, high = low - margin if low != 0 else 0.0, high + margin
    step = round_step((high - low) / _TICKS)
    return Axis(step * math.floor(low / step + _ON_A_MARK), step * math.ceil(high / step - _ON_A_MARK), start, end)


def round_step(step: float) -> float:
    """Return the least of 1, 2, 2.5, 5 times a power of ten that is ≥ `step`.

    Examples
    --------
    >>> round_step(0.19), round_step(3.0), round_step(1.0)
    (0.2, 5.0, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * factor for factor in _ROUND if power * factor >= step * (1 - _ON_A_MARK))


def _labels(values: Sequence[float], step: float) -> list[str]:
    """Write ticks with the digits that tell neighbours apart."""
    largest = max(abs(value) for value in values)
    return column(values, math.floor(math.log10(largest)) - math.floor(math.log10(step)) + 2)
