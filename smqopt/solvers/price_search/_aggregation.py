"""A market with few rows that spends what a large one does, near a given price.

Owners of a common law are counted by the bits of ε, 512 bins to the octave, with the sums of the
first powers of their distances from the middle of the bin. A bin is then replaced by as many
weighted points as there are sums, so that each sum is kept: what is lost is the error of cubic
interpolation across a bin, near the rounding of doubles, where θ(v)F(θ(v)) is smooth. Bins where it
is not, given the price, are cut there, and owners next to a jump stand for themselves.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Indices, Mask
from smqopt.solvers.price_search._response import OwnerPart, Responses
from smqopt.valuation import GuidedSearch

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
_MOST_CORNERS = 256
"""No more jumps than this are given their owners."""
_WINDOW = 2.0**-11
"""Owners so near a jump, relatively, stand for themselves."""


@dataclass(frozen=True)
class Condensed:
    """A part of the market, and its few rows."""

    part: OwnerPart
    few: OwnerPart
    bins: Indices | None = None
    """The bins of few rows, where these are four of each."""

    def open(self, x: float) -> OwnerPart:
        """Return the few rows, with bins cut at what is not smooth at price 1/x.

        Owners next to jumps stand for themselves.
        """
        part, few, bins = self.part, self.few, self.bins
        if part.table is None or bins is None:
            return few
        edges = _edges(part.table, x)
        if not edges.size:
            return few
        touched = Bins.around(edges[::2], edges[1::2])
        rows = touched.rows(part.epsilon)
        weight = part.weight[rows] if isinstance(part.weight, np.ndarray) else np.full(rows.size, part.weight)
        epsilon = part.epsilon[rows]
        place = GuidedSearch(edges)(epsilon)
        alone = place % 2 == 1
        kept = np.tile(~touched.holds(bins), _POWERS)
        points, weights = _cut_bins(epsilon[~alone], weight[~alone], place[~alone] // 2, edges)
        assert isinstance(few.weight, np.ndarray)  # noqa: S101
        return dataclasses.replace(
            few,
            epsilon=np.concatenate([few.epsilon[kept], points, epsilon[alone]]),
            weight=np.concatenate([few.weight[kept], weights, weight[alone]]),
        )


def _edges(table: Responses, x: float) -> Floats:
    """Return ends of intervals of ε about jumps, and turns twice each; rising."""
    found: list[float] = []
    corners = [(low / x * (1.0 - _WINDOW), high / x * (1.0 + _WINDOW)) for low, high in table.corners()[:_MOST_CORNERS]]
    for low, high in sorted((low, high) for low, high in corners if 0 < high < np.inf):
        if found and low <= found[-1]:
            found[-1] = max(found[-1], high)
        else:
            found += [max(low, 0.0), high]
    turns = table.turns() / x
    turns = turns[(np.searchsorted(np.array(found), turns) % 2 == 0) & (turns > 0) & (turns < np.inf)]
    return np.sort(np.concatenate([found, turns, turns]))


def _cut_bins(epsilon: Floats, weight: Floats, gap: Indices, edges: Floats) -> tuple[Floats, Floats]:
    """Return weighted points for bins that are cut at edges.

    `gap` says which of the gaps between intervals each owner is in, from 0.
    """
    if not epsilon.size:
        return np.empty(0), np.empty(0)
    bins = _bits(epsilon) >> BIN_SHIFT
    part = bins - bins.min() + gap  # neither falls in ε: no two pairs have one sum
    one = np.zeros(int(part.max()) + 1, dtype=np.intp)
    one[part] = np.arange(part.size)
    padded = np.concatenate([[0.0], edges, [np.inf]])
    low = np.maximum(_floats(bins[one]), padded[2 * gap[one]])
    high = np.minimum(_floats(bins[one] + 1), padded[2 * gap[one] + 1])
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), np.spacing(low))
    z = (epsilon - middle[part]) / half[part]
    sums, term = np.empty((_POWERS, one.size)), weight.copy()
    for power in range(_POWERS):
        sums[power] = np.bincount(part, weights=term, minlength=one.size)
        term *= z
    full = np.flatnonzero(np.bincount(part, minlength=one.size))
    points = middle[full] + half[full] * _POINTS[:, None]
    return points.ravel(), np.einsum("ji,ib->jb", _FROM_SUMS, sums[:, full]).ravel()


@dataclass(frozen=True)
class Bins:
    """Some of the bins of ε."""

    first: int
    chosen: Mask
    """From the first on; the bins before and after are not."""

    @classmethod
    def around(cls, low: Floats, high: Floats) -> Bins:
        """Choose the bins that intervals touch."""
        begin, end = _bits(np.maximum(low, 0.0)) >> BIN_SHIFT, _bits(high) >> BIN_SHIFT
        first = int(begin.min())
        steps = np.zeros(int(end.max()) - first + 3, dtype=np.int64)
        np.add.at(steps, begin - first + 1, 1)
        np.add.at(steps, end - first + 2, -1)
        return cls(first - 1, np.cumsum(steps) > 0)

    def holds(self, bins: Indices) -> Mask:
        """Tell which of some bins are chosen."""
        return np.take(self.chosen, bins - self.first, mode="clip")

    def rows(self, epsilon: Floats) -> Indices:
        """Return the rows of the owners in the chosen bins, in their order."""
        found = [
            start + np.flatnonzero(self.holds(_bits(epsilon[start : start + _BLOCK]) >> BIN_SHIFT))
            for start in range(0, epsilon.size, _BLOCK)
        ]
        return np.concatenate([np.empty(0, dtype=np.intp), *found])


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
    few = dataclasses.replace(part, owners=slice(None), epsilon=points, weight=weights)
    return Condensed(part, few, first + full)


def points_of_bins(bins: NDArray[np.int64], sums: Floats) -> tuple[Floats, Floats]:
    """Return weighted points, four a bin, that keep its sums.

    `bins` are the upper bits of ε beyond `BIN_SHIFT`, shape (k,); `sums` of the powers 0 to 3 of
    the distances from each bin's middle, in half widths, shape (4, k).
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
