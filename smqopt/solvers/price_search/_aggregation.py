"""A market with few rows that spends what a large one does, near a given price.

Owners of a common law are counted in bins of ε, whose points stand for them where θ(v)F(θ(v)) is
smooth. Bins where it is not, given the price, are cut there, and owners next to a jump stand for
themselves.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from smqopt.numeric import (
    BIN_SHIFT,
    POWERS,
    Bins,
    Floats,
    Indices,
    bin_edges,
    bin_sums,
    bits_of,
    points_of_bins,
    points_of_sums,
    power_sums,
)
from smqopt.solvers.price_search._response import OwnerPart, Responses
from smqopt.valuation import GuidedSearch

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
        kept = np.tile(~touched.holds(bins), POWERS)
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
    bins = bits_of(epsilon) >> BIN_SHIFT
    part = bins - bins.min() + gap  # neither falls in ε: no two pairs have one sum
    one = np.zeros(int(part.max()) + 1, dtype=np.intp)
    one[part] = np.arange(part.size)
    padded = np.concatenate([[0.0], edges, [np.inf]])
    low = np.maximum(bin_edges(bins[one]), padded[2 * gap[one]])
    high = np.minimum(bin_edges(bins[one] + 1), padded[2 * gap[one] + 1])
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), np.spacing(low))
    sums = power_sums(part, (epsilon - middle[part]) / half[part], weight, one.size)
    full = np.flatnonzero(np.bincount(part, minlength=one.size))
    return points_of_sums(middle[full], half[full], sums[:, full])


def condense(part: OwnerPart) -> Condensed:
    """Condense a part that has a table; any other stays as it is."""
    epsilon, weight = part.epsilon, part.weight
    if part.table is None or epsilon.max() == 0:
        return Condensed(part, part)
    if epsilon.min() == 0:
        sells = epsilon > 0
        epsilon, weight = epsilon[sells], weight[sells] if isinstance(weight, np.ndarray) else weight
    first, last = (int(bits_of(end) >> BIN_SHIFT) for end in (epsilon.min(), epsilon.max()))
    if last - first >= _MOST_BINS:
        return Condensed(part, part)
    sums = bin_sums(epsilon, weight, first, last + 1 - first)
    full = np.flatnonzero(sums[0])
    points, weights = points_of_bins(first + full, sums[:, full])
    few = dataclasses.replace(part, owners=slice(None), epsilon=points, weight=weights)
    return Condensed(part, few, first + full)
