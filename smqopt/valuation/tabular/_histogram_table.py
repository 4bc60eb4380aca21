"""Tables of histograms.

Many laws with straight pieces, each owner with one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats, Indices
from smqopt.valuation.ironing._quadratic_hull import Hulls, QuadraticPieces, quadratic_hulls

Which = Indices | None
"""The histogram of each owner, shape (n,); None where the table has one histogram, common to all.
"""


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms by their pieces with mass.

    Every function takes the histogram of each owner, and arguments that broadcast against it.
    """

    quadratics: QuadraticPieces
    above: Floats
    """1 − q₁ of each piece, to its own last digits."""

    @classmethod
    def join(cls, tables: Sequence[Histograms]) -> Histograms:
        """Put tables one after the other."""
        sizes = np.concatenate([np.diff(table.quadratics.start) for table in tables])
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        names = ("low", "high", "low_acceptance", "high_acceptance", "share", "low_cost", "rises")
        quadratics = QuadraticPieces(
            start, *(np.concatenate([getattr(table.quadratics, name) for table in tables]) for name in names)
        )
        return cls(quadratics, np.concatenate([table.above for table in tables]))

    @cached_property
    def hulls(self) -> Hulls:
        """The hulls of the cost curves."""
        return quadratic_hulls(self.quadratics)

    @property
    def low(self) -> Floats:
        """θ̲ of each histogram, in currency."""
        return self.quadratics.low[self.quadratics.start[:-1]]

    @property
    def high(self) -> Floats:
        """θ̄ of each histogram, in currency."""
        return self.quadratics.high[self.quadratics.start[1:] - 1]

    def cdf(self, which: Which, t: ArrayLike) -> Floats:
        """Return F(t)."""
        theta, k = self._locate(which, t)
        return self.quadratics.acceptance(k, theta)

    def survival(self, which: Which, t: ArrayLike) -> Floats:
        """Return 1 − F(t), to its own last digits."""
        theta, k = self._locate(which, t)
        quadratics, high = self.quadratics, self.quadratics.high[k]
        return self.above[k] + quadratics.share[k] * (np.maximum(high - theta, 0.0) / (high - quadratics.low[k]))

    def log_cdf(self, which: Which, t: ArrayLike) -> Floats:
        """Return log F(t)."""
        F = self.cdf(which, t)
        with np.errstate(divide="ignore"):
            return np.where(F < 0.5, np.log(F), np.log1p(-self.survival(which, t)))

    def log_survival(self, which: Which, t: ArrayLike) -> Floats:
        """Return log(1 − F(t))."""
        F = self.cdf(which, t)
        with np.errstate(divide="ignore"):
            return np.where(F < 0.5, np.log1p(-F), np.log(self.survival(which, t)))

    def pdf(self, which: Which, t: ArrayLike) -> Floats:
        """Return f(t); at an edge that of the piece above."""
        theta, k = self._locate(which, t)
        given, quadratics = np.asarray(t, dtype=np.float64), self.quadratics
        on = (given == theta) & ((theta < quadratics.high[k]) | (k == self._ends(which)[1] - 1))
        return np.where(on, quadratics.share[k] / (quadratics.high[k] - quadratics.low[k]), 0.0)

    def ppf(self, which: Which, q: ArrayLike) -> Floats:
        """Return F⁻¹(q); NaN outside [0, 1].

        A level at which F is flat goes to the lower end of the flat.
        """
        u, quadratics = np.asarray(q, dtype=np.float64), self.quadratics
        good = (u >= 0) & (u <= 1)
        p = np.where(good, u, 0.0)
        start, end = self._ends(which)
        k = np.minimum(self._count(which, quadratics.high_acceptance, p, below=True), end - 1)
        low, high = quadratics.low[k], quadratics.high[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            up = (high - low) * ((p - quadratics.low_acceptance[k]) / quadratics.share[k])
            down = (high - low) * (((1.0 - p) - self.above[k]) / quadratics.share[k])
        theta = np.clip(np.where(p < 0.5, low + up, high - down), low, high)
        theta = np.where(p <= 0, quadratics.low[start], np.where(p >= 1, quadratics.high[end - 1], theta))
        return np.where(good, theta, np.nan)

    def virtual_cost(self, which: Which, t: ArrayLike) -> Floats:
        """Return J(t); +∞ between pieces, NaN outside the support."""
        theta, k = self._locate(which, t)
        given, quadratics = np.asarray(t, dtype=np.float64), self.quadratics
        gap = (theta >= quadratics.high[k]) & (k < self._ends(which)[1] - 1)
        J = np.where(gap, np.inf, theta + (theta - quadratics.low[k]) + (quadratics.low_cost[k] - quadratics.low[k]))
        return np.where(given == theta, J, np.nan)

    def inverse_virtual_cost(self, which: Which, v: ArrayLike) -> Floats:
        """Return the threshold where the hull's slope is v; the upper at a tie."""
        price = np.asarray(v, dtype=np.float64)
        start, _ = self._ends(which)
        k = np.maximum(self._count(which, self.hulls.from_price, price, below=False) - 1, start)
        theta = self.quadratics.threshold(k, price)
        return np.where(np.isnan(price), np.nan, theta)

    # --- inside -----------------------------------------------------------------------------------

    def _ends(self, which: Which) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first piece of each owner's histogram, and the one after the last."""
        start = self.quadratics.start
        return (start[0], start[1]) if which is None else (start[which], start[which + 1])

    def _locate(self, which: Which, t: ArrayLike) -> tuple[Floats, Indices]:
        """Return θ clipped to the support, and its piece.

        The upper one at an edge, the lower one between pieces.
        """
        start, end = self._ends(which)
        theta = np.clip(np.asarray(t, dtype=np.float64), self.quadratics.low[start], self.quadratics.high[end - 1])
        return theta, np.maximum(self._count(which, self.quadratics.low, theta, below=False) - 1, start)

    def _count(self, which: Which, column: Floats, x: Floats, *, below: bool) -> Indices:
        """Return each owner's first piece whose entry is ≥ x, or > x.

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
