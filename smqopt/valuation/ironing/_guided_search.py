"""Counts of edges below many numbers, by even bins in place of bisection."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats, Indices

_BINS = 1 << 14
_MOST_STEPS = 4
"""With more edges than this in a bin, bisection is as good."""
_FEW = 4
"""So few edges are compared one after the other."""


class GuidedSearch:
    """Find where numbers stand among edges that do not fall.

    Numbers go to even bins by a map that does not fall, rounding included: edges in lower bins lie
    below, edges in higher ones above, and only those in the same bin are compared.

    Examples
    --------
    >>> GuidedSearch(np.array([1.0, 2.0, 2.0, 5.0]))(np.array([0.5, 2.0, 9.0])).tolist()
    [0, 3, 4]
    """

    def __init__(self, edges: Floats) -> None:
        self.edges = edges
        self._padded = np.append(edges, np.nan)  # at most no number, nor infinity
        span = float(edges[-1] - edges[0]) if edges.size else 0.0
        self._scale = _BINS / span if 0 < span < np.inf else 0.0
        own = self._bins(edges) if 0 < self._scale < np.inf else np.zeros(edges.size, dtype=np.int64)
        self._first = np.searchsorted(own, np.arange(_BINS + 1), side="left").astype(np.int32)
        self._steps = int(np.max(np.bincount(own), initial=0))

    def __call__(self, x: Floats) -> Indices:
        """Return how many edges are at most x, for each x."""
        found: Indices
        if self.edges.size <= _FEW:
            found = np.zeros(np.shape(x), dtype=np.intp)
            for edge in self.edges.tolist():
                found += edge <= x
            return found
        if not 0 < self._scale < np.inf or self._steps > _MOST_STEPS:
            return np.searchsorted(self.edges, x, side="right")
        found = np.take(self._first, self._bins(x))
        for _ in range(self._steps):
            found += np.take(self._padded, found) <= x
        return found

    def _bins(self, x: Floats) -> Indices:
        z = (x - self.edges[0]) * self._scale
        bins: Indices = np.fmin(np.fmax(z, 0.0), _BINS).astype(np.int32)
        return bins
