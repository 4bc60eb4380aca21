"""Stretches of prices on which what a block gains is nearly known.

At a price p a block gains h(p) = Σ_t (a_t − c_t p) F_t(p). On the cell p = p₀ + w t, 0 ≤ t < 1,
each F_t lies at most `up` above and `down` below its chord, so that h exceeds

    Σ (a_t − c_t p)(F_t(p₀) + ΔF_t t),

a parabola in t, by no more than Σ max {w⁺ up, w⁻ down}, w⁺ and w⁻ being how far a_t − c_t p goes
above and below 0 on the cell. As F rises, Σ w F_t(p₁) over w ≥ 0 and Σ w F_t(p₀) over w < 0, w the
larger of a_t − c_t p at both ends, is a bound too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import ROUNDING, TERM_ROUNDING, Floats

Index = NDArray[np.intp] | NDArray[np.bool_] | slice


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells, each of one block; arrays of one length."""

    group: NDArray[np.intp]
    terms: NDArray[np.intp]
    """How many terms the sums have."""
    price: Floats
    """p₀, in currency."""
    end: Floats
    """p₀ + w, in currency; p₀ where a price stands alone."""
    exact: NDArray[np.bool_]
    """Whether all F_t run straight."""
    may_gain: NDArray[np.bool_]
    """Whether some a_t − c_t p is not below 0 by more than its rounding."""
    gain: Floats
    more_gain: Floats
    """Σ a F(p₀) and Σ a ΔF."""
    sold: Floats
    more_sold: Floats
    """Σ c F(p₀) and Σ c ΔF."""
    error: Floats
    """How far h may lie above the parabola."""
    most: Floats
    """A bound of first order."""
    size: Floats
    """The largest sum of the absolute terms, for roundings,"""
    least_size: Floats
    """and the smallest one, at p₀."""

    def take(self, index: Index) -> Cells:
        """Return some of the cells."""
        return Cells(*(getattr(self, column.name)[index] for column in fields(self)))

    @property
    def width(self) -> Floats:
        """w, in currency."""
        return self.end - self.price

    def height(self, t: Floats | float) -> Floats:
        """Return the parabola at t."""
        paid = (self.price + self.width * t) * (self.sold + self.more_sold * t)
        return self.gain + self.more_gain * t - paid

    def tops(self) -> Floats:
        """Return the t of each cell at which the parabola is largest."""
        slope, bend = self._slope(), 2.0 * self.width * self.more_sold
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = np.where(slope <= 0, 0.0, np.where(slope >= bend, 1.0, slope / bend))
        at_ends = (self.height(1.0) > self.height(0.0)).astype(np.float64)
        return np.where(bend > 0, inner, at_ends)

    def ceilings(self) -> tuple[Floats, Floats]:
        """Bound h on each cell from above but for roundings, and bound these.

        Where the parabola bends down an error δ of its slope moves its top by at most min(δ,
        δ²/bend), which the roundings cover: 16 units and one for each term, relative to the terms.
        """
        roundings = (ROUNDING.value + TERM_ROUNDING.value * self.terms) * self.size
        by_parabola = self.height(self.tops()) + self.error
        ceiling = np.minimum(by_parabola, self.most)
        # where every law loses, h is not above 0, whatever the roundings
        return ceiling, np.where(self.may_gain, 2.0 * roundings, np.minimum(2.0 * roundings, np.maximum(-ceiling, 0.0)))

    def _slope(self) -> Floats:
        """The slope of the parabola at t = 0."""
        return self.more_gain - self.width * self.sold - self.price * self.more_sold
