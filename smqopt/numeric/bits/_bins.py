"""Numbers ≥ 0 in bins of their upper bits, 512 to the octave.

A bin is known by its sums: of the powers 0 to 3 of the distances from its middle, in half widths.
As many weighted points stand for its numbers as there are sums, so that each sum is kept: what is
lost of the sum of a smooth function is the error of cubic interpolation across a bin, near the
rounding of doubles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.numeric._arrays import Floats, Indices, Integers, Mask

BIN_SHIFT = 52 - 9
"""Bits of a number beyond those that number its bin."""
POWERS = 4
"""Sums kept for a bin: of the powers 0 to 3."""
_POINTS = np.cos(np.pi * (np.arange(POWERS) + 0.5) / POWERS)
_FROM_SUMS = np.linalg.inv(np.vander(_POINTS, increasing=True).T)
_BLOCK = 1 << 16
"""Numbers handled at a time."""


def bits_of(numbers: Floats | np.float64) -> Integers:
    """Return the bits of doubles."""
    return np.asarray(numbers).view(np.int64)


def bin_edges(bins: Integers) -> Floats:
    """Return the lower edges of bins."""
    return (np.asarray(bins, dtype=np.int64) << BIN_SHIFT).view(np.float64)


def bins_around(low: float, high: float) -> tuple[float, float]:
    """Return edges one bin below `low` and one bin above `high`; both ≥ 0."""
    bins = bits_of(np.array([low, high])) >> BIN_SHIFT
    bottom, top = bin_edges(np.maximum(bins + np.array([-1, 2]), 0)).tolist()
    return bottom, top


def places_in_bins(bits: Integers) -> tuple[Integers, Floats]:
    """Return bins of numbers, and their distances from the middles, in half widths."""
    z = (bits & ((1 << BIN_SHIFT) - 1)).astype(np.float64)
    z *= 2.0 ** (1 - BIN_SHIFT)
    z -= 1.0
    return bits >> BIN_SHIFT, z


def power_sums(which: Indices, z: Floats, weight: Floats | float, bins: int) -> Floats:
    """Sum weighted powers 0 to 3 of z in each of some bins; shape (4, bins)."""
    sums, each = np.empty((POWERS, bins)), isinstance(weight, np.ndarray)
    sums[0] = np.bincount(which, weights=weight if each else None, minlength=bins)
    term = weight * z if each else z.copy()
    for power in range(1, POWERS):
        sums[power] = np.bincount(which, weights=term, minlength=bins)
        term *= z
    return sums if each else weight * sums


def bin_sums(numbers: Floats, weight: Floats | float, first: int, bins: int) -> Floats:
    """Return the sums of bins, the first of them of a number; shape (4, bins)."""
    sums = np.zeros((POWERS, bins))
    for start in range(0, numbers.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        which, z = places_in_bins(bits_of(numbers[block]))
        sums += power_sums(which - first, z, weight[block] if isinstance(weight, np.ndarray) else weight, bins)
    return sums


def points_of_sums(middle: Floats, half: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Return weighted points, four to each interval, that keep its sums, shape (4, k)."""
    points = middle + half * _POINTS[:, None]
    return points.ravel(), np.einsum("ji,ib->jb", _FROM_SUMS, sums).ravel()


def points_of_bins(bins: Integers, sums: Floats) -> tuple[Floats, Floats]:
    """Return weighted points, four a bin, that keep its sums.

    `bins` are the bits beyond `BIN_SHIFT`, shape (k,); `sums` as they are, shape (4, k).
    """
    low, high = bin_edges(bins), bin_edges(bins + 1)
    return points_of_sums(0.5 * (low + high), 0.5 * (high - low), sums)


@dataclass(frozen=True)
class Bins:
    """Some of the bins."""

    first: int
    chosen: Mask
    """From the first on; the bins before and after are not."""

    @classmethod
    def around(cls, low: Floats, high: Floats) -> Bins:
        """Choose the bins that intervals touch."""
        begin, end = bits_of(np.maximum(low, 0.0)) >> BIN_SHIFT, bits_of(high) >> BIN_SHIFT
        first = int(begin.min())
        steps = np.zeros(int(end.max()) - first + 3, dtype=np.int64)
        np.add.at(steps, begin - first + 1, 1)
        np.add.at(steps, end - first + 2, -1)
        return cls(first - 1, np.cumsum(steps) > 0)

    def holds(self, bins: Integers) -> Mask:
        """Tell which of some bins are chosen."""
        return np.take(self.chosen, bins - self.first, mode="clip")

    def rows(self, numbers: Floats) -> Indices:
        """Return which of some numbers are in the chosen bins, in their order."""
        found = [
            start + np.flatnonzero(self.holds(bits_of(numbers[start : start + _BLOCK]) >> BIN_SHIFT))
            for start in range(0, numbers.size, _BLOCK)
        ]
        return np.concatenate([np.empty(0, dtype=np.intp), *found])
