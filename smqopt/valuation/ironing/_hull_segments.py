"""The convex hull of C(q) = q F⁻¹(q) as segments, each straight or a parabola.

What a cone form states exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.valuation.ironing._flat_segments import FlatPieces, rows_of


@dataclass(frozen=True)
class HullSegments:
    """Segments of hulls, in order of owner and then of acceptance.

    Arrays of one length.

    Over a segment of width w the hull rises by slope·x + curvature·x², 0 ≤ x ≤ w. Slopes do not
    fall from one segment to the next, so that the cheapest way to split an acceptance over the
    segments fills them in order: its cost is the hull.
    """

    owner: Indices
    """Whose segment it is, from 0; all 0 for a common law."""
    width: Floats
    """In acceptance; an owner's widths sum to 1."""
    slope: Floats
    """At the low end, in currency."""
    curvature: Floats
    """≥ 0, in currency."""

    @classmethod
    def straight(cls, pieces: FlatPieces) -> HullSegments:
        """Return the segments of hulls that are flat pieces from end to end."""
        return cls(
            pieces.owner, pieces.high_acceptance - pieces.low_acceptance, pieces.slope, np.zeros_like(pieces.slope)
        )

    def take(self, index: Indices, size: int) -> HullSegments:
        """Return the segments of the owners at `index`, renumbered in its order."""
        owner, rows = rows_of(self.owner, np.arange(size, dtype=np.intp)[index])
        return HullSegments(owner, self.width[rows], self.slope[rows], self.curvature[rows])
