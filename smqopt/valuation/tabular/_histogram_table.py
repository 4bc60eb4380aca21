"""Tables of histograms: many laws with straight pieces, each owner with one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats, Indices
from smqopt.valuation.ironing._quadratic_hull import Arcs, Hulls, hulls_of_arcs

Which = Indices | None
"""The histogram of each owner, shape (n,); None where the table has one histogram, common to all.
"""


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms by their pieces with mass; every function takes the histogram of each owner, and arguments that broadcast against it."""

    arcs: Arcs
    above: Floats
    """1 − q₁ of each piece, to its own last digits."""

    @classmethod
    def joined(cls, tables: Sequence[Histograms]) -> Histograms:
        """Put tables one after the other."""
        sizes = np.concatenate([np.diff(table.arcs.start) for table in tables])
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        names = ("low", "high", "low_acceptance", "high_acceptance", "share", "low_cost", "rises")
        arcs = Arcs(start, *(np.concatenate([getattr(table.arcs, name) for table in tables]) for name in names))
        return cls(arcs, np.concatenate([table.above for table in tables]))

    @cached_property
    def hulls(self) -> Hulls:
        """The hulls of the cost curves."""
        return hulls_of_arcs(self.arcs)

    @property
    def low(self) -> Floats:
        """θ̲ of each histogram, in currency."""
        return self.arcs.low[self.arcs.start[:-1]]

    @property
    def high(self) -> Floats:
        """θ̄ of each histogram, in currency."""
        return self.arcs.high[self.arcs.start[1:] - 1]

    def cdf(self, which: Which, t: ArrayLike) -> Floats:
        """Give F(t)."""
        theta, k = self._located(which, t)
        return self.arcs.acceptance(k, theta)

    def survival(self, which: Which, t: ArrayLike) -> Floats:
        """Give 1 − F(t), to its own last digits."""
        theta, k = self._located(which, t)
        arcs, high = self.arcs, self.arcs.high[k]
        return self.above[k] + arcs.share[k] * (np.maximum(high - theta, 0.0) / (high - arcs.low[k]))

    def log_cdf(self, which: Which, t: ArrayLike) -> Floats:
        """Give log F(t)."""
        F = self.cdf(which, t)
        with np.errstate(divide="ignore"):
            return np.where(F < 0.5, np.log(F), np.log1p(-self.survival(which, t)))

    def log_survival(self, which: Which, t: ArrayLike) -> Floats:
        """Give log(1 − F(t))."""
        F = self.cdf(which, t)
        with np.errstate(divide="ignore"):
            return np.where(F < 0.5, np.log1p(-F), np.log(self.survival(which, t)))

    def pdf(self, which: Which, t: ArrayLike) -> Floats:
        """Give f(t): at an edge that of the piece above, at the top that of the last piece."""
        theta, k = self._located(which, t)
        given, arcs = np.asarray(t, dtype=np.float64), self.arcs
        on = (given == theta) & ((theta < arcs.high[k]) | (k == self._ends(which)[1] - 1))
        return np.where(on, arcs.share[k] / (arcs.high[k] - arcs.low[k]), 0.0)

    def ppf(self, which: Which, q: ArrayLike) -> Floats:
        """Give F⁻¹(q); NaN outside [0, 1]. A level at which F is flat goes to the lower end of the flat."""
        u, arcs = np.asarray(q, dtype=np.float64), self.arcs
        good = (u >= 0) & (u <= 1)
        p = np.where(good, u, 0.0)
        start, end = self._ends(which)
        k = np.minimum(self._count(which, arcs.high_acceptance, p, below=True), end - 1)
        low, high = arcs.low[k], arcs.high[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            up = (high - low) * ((p - arcs.low_acceptance[k]) / arcs.share[k])
            down = (high - low) * (((1.0 - p) - self.above[k]) / arcs.share[k])
        theta = np.clip(np.where(p < 0.5, low + up, high - down), low, high)
        theta = np.where(p <= 0, arcs.low[start], np.where(p >= 1, arcs.high[end - 1], theta))
        return np.where(good, theta, np.nan)

    def virtual_cost(self, which: Which, t: ArrayLike) -> Floats:
        """Give J(t); +∞ between pieces, NaN outside the support."""
        theta, k = self._located(which, t)
        given, arcs = np.asarray(t, dtype=np.float64), self.arcs
        gap = (theta >= arcs.high[k]) & (k < self._ends(which)[1] - 1)
        J = np.where(gap, np.inf, theta + (theta - arcs.low[k]) + (arcs.low_cost[k] - arcs.low[k]))
        return np.where(given == theta, J, np.nan)

    def inverse_virtual_cost(self, which: Which, v: ArrayLike) -> Floats:
        """Give the threshold at which the slope of the hull is v, clipped to the support; the upper one where the hull is straight."""
        price = np.asarray(v, dtype=np.float64)
        start, _ = self._ends(which)
        k = np.maximum(self._count(which, self.hulls.from_price, price, below=False) - 1, start)
        theta = self.arcs.threshold(k, price)
        return np.where(np.isnan(price), np.nan, theta)

    # --- inside ------------------------------------------------------------------------------------------------

    def _ends(self, which: Which) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Give the first piece of each owner's histogram, and the one after the last."""
        start = self.arcs.start
        return (start[0], start[1]) if which is None else (start[which], start[which + 1])

    def _located(self, which: Which, t: ArrayLike) -> tuple[Floats, Indices]:
        """Give θ clipped to the support, and its piece: the upper one at an edge, the lower one between pieces."""
        start, end = self._ends(which)
        theta = np.clip(np.asarray(t, dtype=np.float64), self.arcs.low[start], self.arcs.high[end - 1])
        return theta, np.maximum(self._count(which, self.arcs.low, theta, below=False) - 1, start)

    def _count(self, which: Which, column: Floats, x: Floats, *, below: bool) -> Indices:
        """Give the place, in the whole table, of the first piece of the owner's histogram whose entry is ≥ x, or > x unless `below`.

        The entries do not fall within a histogram; NaN is above all.
        """
        if which is None:
            return np.asarray(np.searchsorted(column, x, side="left" if below else "right"))
        left, right = (
            np.array(np.broadcast_to(end, np.broadcast_shapes(x.shape, which.shape))) for end in self._ends(which)
        )
        for _ in range(int(np.max(right - left, initial=0)).bit_length()):
            open_, middle = left < right, (left + right) >> 1
            entry = column[np.minimum(middle, column.size - 1)]
            lower = (entry < x) if below else ~(entry > x)
            left, right = np.where(open_ & lower, middle + 1, left), np.where(open_ & ~lower, middle, right)
        return left
