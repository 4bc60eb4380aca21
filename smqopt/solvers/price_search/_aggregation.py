"""A market with few rows that spends what a large one does, near a given price.

Owners of a common law are counted by the bits of ε, 512 bins to the octave, with the sums of the
first powers of their distances from the middle of the bin. A bin is then replaced by as many
weighted points as there are sums, so that each sum is kept: what is lost is the error of cubic
interpolation across a bin, near the rounding of doubles, where θ(v)F(θ(v)) is smooth. Bins where it
is not, given the price, keep their owners.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.solvers.price_search._response import OwnerPart

BIN_SHIFT = 52 - 9
"""Bits of ε beyond those that number its bin."""
_BIN = ~((1 << BIN_SHIFT) - 1)
_POWERS = 4
"""Sums kept for a bin: of the powers 0 to 3."""
_POINTS = np.cos(np.pi * (np.arange(_POWERS) + 0.5) / _POWERS)
_FROM_SUMS = np.linalg.inv(np.vander(_POINTS, increasing=True).T)
_BLOCK = 1 << 16
"""Owners counted at a time."""
_MOST_BINS = 1 << 16
"""With more bins than this the owners are taken one by one."""
_MOST_CORNERS = 16
"""No more corners than this are given their owners."""


@dataclass(frozen=True)
class Condensed:
    """A part of the market, and its few rows."""

    part: OwnerPart
    few: OwnerPart

    def open(self, x: float) -> OwnerPart:
        """Return the few rows, owners apart in the bins about the corners at price 1/x."""
        part, few = self.part, self.few
        if part.table is None:
            return few
        kept, owners = np.ones(few.epsilon.size, dtype=bool), []
        for low, high in part.table.corners()[:_MOST_CORNERS]:
            if not 0 < high / x < np.inf:
                continue
            bottom, top = bins_around(low / x, high / x)
            inside = np.flatnonzero((part.epsilon >= bottom) & (part.epsilon < top))
            owners.append(inside)
            kept &= ~((few.epsilon >= bottom) & (few.epsilon < top))
        rows = part.rows(np.unique(np.concatenate([*owners, np.empty(0, dtype=np.intp)])))
        weight = rows.weight if isinstance(rows.weight, np.ndarray) else np.full(rows.epsilon.size, rows.weight)
        assert isinstance(few.weight, np.ndarray)  # noqa: S101
        return dataclasses.replace(
            few,
            epsilon=np.concatenate([few.epsilon[kept], rows.epsilon]),
            weight=np.concatenate([few.weight[kept], weight]),
        )


def condense(part: OwnerPart) -> Condensed:
    """Condense a part that has a table; any other stays as it is."""
    epsilon, weight = part.epsilon, part.weight
    if part.table is None or epsilon.max() == 0:
        return Condensed(part, part)
    if epsilon.min() == 0:
        sells = epsilon > 0
        epsilon, weight = epsilon[sells], weight[sells] if isinstance(weight, np.ndarray) else weight
    first, last = (int(_bits(end) >> BIN_SHIFT) for end in (epsilon.min(), epsilon.max()))
    if last - first >= _MOST_BINS:
        return Condensed(part, part)
    sums = _sums(epsilon, weight, first, last + 1 - first)
    full = np.flatnonzero(sums[0])
    points, weights = points_of_bins(first + full, sums[:, full])
    return Condensed(part, dataclasses.replace(part, owners=slice(None), epsilon=points, weight=weights))


def points_of_bins(bins: NDArray[np.int64], sums: Floats) -> tuple[Floats, Floats]:
    """Return weighted points, four a bin, that keep its sums.

    Parameters
    ----------
    bins
        The upper bits of ε beyond `BINBIN_SHIFT`, shape (k,).
    sums
        Of the powers 0 to 3 of the distances from each bin's middle, in half widths; shape (4, k).
    """
    low, high = _floats(bins), _floats(bins + 1)
    points = 0.5 * (low + high) + 0.5 * (high - low) * _POINTS[:, None]
    return points.ravel(), np.einsum("ji,ib->jb", _FROM_SUMS, sums).ravel()


def _sums(epsilon: Floats, weight: Floats | float, first: int, bins: int) -> Floats:
    """Sum weighted powers of the distances from each bin's middle.

    In half widths; shape (powers, bins).
    """
    sums = np.zeros((_POWERS, bins))
    for start in range(0, epsilon.size, _BLOCK):
        bits = _bits(epsilon[start : start + _BLOCK])
        which = (bits >> BIN_SHIFT) - first
        z = (bits & ~_BIN).astype(np.float64)
        z *= 2.0 ** (1 - BIN_SHIFT)
        z -= 1.0
        if isinstance(weight, np.ndarray):
            term: Floats = weight[start : start + _BLOCK].copy()
            sums[0] += np.bincount(which, weights=term, minlength=bins)
            term *= z
        else:
            sums[0] += np.bincount(which, minlength=bins)
            term = z.copy()
        for power in range(1, _POWERS):
            sums[power] += np.bincount(which, weights=term, minlength=bins)
            if power + 1 < _POWERS:
                term *= z
    if not isinstance(weight, np.ndarray):
        sums *= weight
    return sums


def _bits(epsilon: Floats | np.float64) -> NDArray[np.int64]:
    return np.asarray(epsilon).view(np.int64)


def _floats(bins: NDArray[np.int64]) -> Floats:
    """Return the lower edges of bins."""
    return (np.asarray(bins, dtype=np.int64) << BIN_SHIFT).view(np.float64)


def bins_around(low: float, high: float) -> tuple[float, float]:
    """Return edges one bin below `low` and one bin above `high`; ε ≥ 0."""
    bins = _bits(np.array([low, high])) >> BIN_SHIFT
    bottom, top = _floats(np.maximum(bins + np.array([-1, 2]), 0)).tolist()
    return bottom, top
