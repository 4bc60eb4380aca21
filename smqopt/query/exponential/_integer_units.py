"""A weighted sum in whole numbers, so that sums are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.numeric import Floats, Integers, exact_dot, exact_sum

_SUM_BITS = 60
"""Weighted sums stay below 2 to this power, so that they and their neighbours are exact 64-bit
integers."""
_ROOM_BITS = 52
"""One owner's part of a sum stays below 2 to this power, so that it is an exact double."""


@dataclass(frozen=True, eq=False)
class WholeUnits:
    """Σ w_i d_i as `origin` + `unit` Σ ω_i δ_i, with whole ω_i and δ_i.

    All public but the entries that are converted.
    """

    weights: Integers
    """ω_i, the weights in units of `weight_unit`, to nearest; shape (k,)."""
    weight_unit: float
    """A power of two."""
    entry_unit: float
    """A power of two."""
    width: int
    """δ_i = 0, …, width; the width of the range of entries in units of `entry_unit`, rounded up."""
    low: float
    """The entry at δ = 0."""
    origin: float
    """low Σ w_i."""
    rounding: float
    """By how much Σ w_i d_i may differ from its whole-number form, at most."""

    @property
    def unit(self) -> float:
        """What a unit of the whole-number sum is worth."""
        return self.weight_unit * self.entry_unit

    @property
    def room(self) -> Integers:
        """The most that one entry can move the sum: |ω_i| width units, shape (k,)."""
        return np.abs(self.weights) * self.width

    @property
    def least(self) -> int:
        """The least sum, in units."""
        return int(np.minimum(self.weights, 0).sum()) * self.width

    @property
    def most(self) -> int:
        """The largest sum, in units."""
        return int(np.maximum(self.weights, 0).sum()) * self.width

    def convert(self, entries: Floats) -> Integers:
        """Convert entries to whole numbers δ_i, to nearest; shape (k,)."""
        steps = np.rint((entries - self.low) / self.entry_unit)
        return np.clip(steps, 0, self.width).astype(np.int64)


def whole_units(weights: Floats, low: float, high: float) -> WholeUnits:
    """Choose units as fine as exact 64-bit sums allow.

    Parameters
    ----------
    weights
        Shape (k,), k ≥ 1, finite.
    low, high
        The public range of entries, low < high.
    """
    spare = min(_ROOM_BITS, _SUM_BITS - (weights.size - 1).bit_length())
    entry_unit = _power_of_two_above(math.ldexp(high - low, -(spare // 2)))
    largest = float(np.max(np.abs(weights)))
    weight_unit = _power_of_two_above(math.ldexp(largest, -(spare - spare // 2))) if largest > 0 else 1.0
    whole = np.rint(weights / weight_unit)
    off = exact_sum(np.abs(weights - whole * weight_unit)) * (high - low)
    halves = exact_sum(np.abs(whole)) * weight_unit * entry_unit / 2
    return WholeUnits(
        weights=whole.astype(np.int64),
        weight_unit=weight_unit,
        entry_unit=entry_unit,
        width=math.ceil((high - low) / entry_unit),
        low=low,
        origin=exact_dot(weights, np.full(weights.size, low)),
        rounding=off + halves,
    )


def _power_of_two_above(x: float) -> float:
    """Return the least power of two that is at least x > 0."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent)
