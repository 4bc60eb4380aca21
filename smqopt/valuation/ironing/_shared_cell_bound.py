"""How much many owners of one law sell at best, bounded from values of F alone.

G(v) = max_p (v − p)F(p) is convex in v, so that between two values of v its chord bounds it. At
these values alone a cell of prices [a, b] is told by the line (v − a)F(b), which no price in it
exceeds, as F does not fall. Cells whose line exceeds the best prices seen by more than is allowed
are halved: where they are not, the best seen and what is allowed bound G at all values at once.
"""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.valuation.ironing._lower_hull import lower_hull
from smqopt.valuation.law._base import Index, Valuation

OCTAVES, PARTS = 24, 1 << 11
"""Values of v in geometric steps: below the largest v, less the low end, and of an octave."""
FIRST_CELLS = 1 << 12
"""Even cells in θ to begin with, beside those between knots."""
CHUNK = 1 << 16
"""Cells that are halved at a time."""
MOST_CELLS = 1 << 25
"""Cells that are looked at; those left open then are bounded by their lines."""
_WORTH_KEEPING = 0.125
"""A price is kept that is better than those seen by more than this part of what is allowed."""
_UP = 1.0 + 2.0**-44
"""More than the roundings of a bound."""


def bound_together(law: Valuation, v: Floats, allowed: float) -> Floats:
    """Bound max_p (v − p)F(p) of many owners of a common law from values of F alone.

    Parameters
    ----------
    law
        F is taken not to fall, and nothing else.
    v
        ε/λ of each owner, in currency, shape (m,).
    allowed
        By how much all bounds together may exceed what the best prices seen give, relative to that,
        chords apart.

    Returns
    -------
    array
        For each owner, in currency; shape (m,).

    Examples
    --------
    >>> from smqopt import Uniform
    >>> v = np.linspace(0.0, 1.0, 1000)
    >>> found = bound_together(Uniform(0, 1), v, 1e-4)
    >>> bool(np.all(found >= v**2 / 4)), bool(found.sum() <= (v**2 / 4).sum() * 1.0002)
    (True, True)
    """
    low, largest = float(law.low), float(np.max(v))
    if not largest > low:
        return np.maximum(v - low, 0.0)
    steps = np.exp2(-np.arange(OCTAVES * PARTS + 1) / PARTS)[::-1]
    edges = np.concatenate([[low], low + (largest - low) * steps])
    edges[-1] = largest
    search = _CellSearch(law, edges, v, allowed)
    search.run()
    top = search.upper()
    k = np.clip(np.searchsorted(edges, v, side="right") - 1, 0, edges.size - 2)
    along = np.clip((v - edges[k]) / (edges[k + 1] - edges[k]), 0.0, 1.0)
    return np.where(v <= low, 0.0, ((1.0 - along) * top[k] + along * top[k + 1]) * _UP)


class _CellSearch:
    """The halving of cells, with the best prices seen for each v."""

    def __init__(self, law: Valuation, edges: Floats, v: Floats, allowed: float) -> None:
        self.law, self.v, self.share = law, edges, 0.5 * allowed
        low, end = float(law.low), min(float(law.high), float(edges[-1]))
        price = np.unique(np.clip(np.append(np.linspace(low, end, FIRST_CELLS + 1), law.knots()), low, end))
        F = law.cdf(price)
        self.open: list[tuple[Floats, ...]] = [(price[:-1], price[1:], F[1:])]
        self.left = MOST_CELLS
        self._see(np.append(low, price), np.append(0.0, F))  # no offer is price low, F = 0
        held = np.bincount(np.searchsorted(edges, v).clip(max=edges.size - 1), minlength=edges.size)
        self.base = self.share * float(held @ self.best) / v.size

    def run(self) -> None:
        """Halve cells until none is open, or the work is done."""
        while self.open and self.left > 0:
            cells = self.open.pop()
            if cells[0].size > CHUNK:
                self.open += [tuple(column[part] for column in cells) for part in (np.s_[CHUNK:], np.s_[:CHUNK])]
                continue
            self.left -= cells[0].size
            still = np.flatnonzero(self._excess(cells[0], cells[2], 1.0) > 0)
            a, b, F_b = (column[still] for column in cells)
            middle = 0.5 * (a + b)
            inside = (middle > a) & (middle < b)  # else both prices of the cell were seen
            a, b, F_b, middle = (column[inside] for column in (a, b, F_b, middle))
            if not middle.size:
                continue
            F = self.law.cdf(middle)
            better = np.flatnonzero(self._excess(middle, F, _WORTH_KEEPING) > 0)
            if better.size:
                self._see(np.append(self.price, middle[better]), np.append(self.F, F[better]))
            self.open.append((np.append(a, middle), np.append(middle, b), np.append(F, F_b)))

    def upper(self) -> Floats:
        """Return bounds of G at the values of v."""
        found = self.best + self._slack(slice(None))
        for a, _, F_b in self.open:
            found = np.maximum(found, self._envelope(a, F_b)[0])
        return found

    def _slack(self, k: Index) -> Floats:
        """Return by how much a line may exceed the best seen."""
        return self.share * self.best[k] + self.base

    def _excess(self, price: Floats, q: Floats, part: float) -> Floats:
        """Return how far (v − p)q exceeds the best seen and part of the slack at most.

        That is concave in v: it is largest where the slopes are the same.
        """
        k = np.searchsorted(self.slope * (1.0 + self.share), q)
        most = np.full(price.size, -np.inf)
        for near in (np.maximum(k - 1, 0), np.minimum(k, self.v.size - 1)):
            np.maximum(most, (self.v[near] - price) * q - self.best[near] - part * self._slack(near), out=most)
        return most

    def _see(self, price: Floats, F: Floats) -> None:
        """Keep the best prices seen, for each v."""
        self.best, kept = self._envelope(price, F)
        self.slope = F[kept]
        vertices = np.unique(kept)
        self.price, self.F = price[vertices], F[vertices]

    def _envelope(self, price: Floats, F: Floats) -> tuple[Floats, Indices]:
        """Return max_k (v − p_k)F_k at the values of v, if positive, and its places."""
        cost = price * F
        hull = lower_hull(np.zeros(F.size, dtype=np.intp), F, cost)
        kept = hull[np.searchsorted(np.diff(cost[hull]) / np.diff(F[hull]), self.v)]
        return np.maximum(self.v * F[kept] - cost[kept], 0.0), kept
