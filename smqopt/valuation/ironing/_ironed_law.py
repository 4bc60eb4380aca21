"""The answer of owners to a price when the cost curve is ironed.

Thresholds on the hull of C, never inside a flat piece.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._monotone_interval import threshold_on_stretch
from smqopt.valuation.law._base import Index, Valuation

_STEPS = 4
"""So many pieces in turn are compared; then bisection is as good."""


@dataclass(frozen=True)
class Stretch:
    """The rising stretch of J that each owner is on, between two flat pieces.

    Shape (n,) each.

    At its lower end the hull of C has every slope from `slope_before` to J, at its upper end from J
    to `slope_after`; these are −∞ and +∞ where no piece comes before or after.
    """

    low: Floats
    high: Floats
    low_acceptance: Floats
    high_acceptance: Floats
    slope_before: Floats
    slope_after: Floats


@dataclass(frozen=True, eq=False)
class Ironed:
    """A law with the flat pieces of its hull.

    Between two pieces J rises, and there the answer is the law's own.
    """

    law: Valuation
    pieces: FlatPieces
    owners: int
    """How many owners the pieces number; 1 for a common law."""

    @property
    def common(self) -> bool:
        """Whether one law holds for all owners."""
        return self.law.size is None

    def take(self, index: Index) -> Ironed:
        """Return the ironed law of the owners at `index`."""
        if self.common:
            return self
        chosen = int(np.arange(self.owners)[index].size)
        return Ironed(self.law.take(index), self.pieces.take(index, self.owners), chosen)

    def count_passed(self, v: Floats) -> NDArray[np.intp]:
        """Count, for each owner, the pieces whose slope is at most v.

        Those whose upper end she has reached.
        """
        if self.common:
            return np.searchsorted(self.pieces.slope, v, side="right")
        reached = self.pieces.slope <= v[self.pieces.owner]
        return np.bincount(self.pieces.owner, weights=reached, minlength=v.size).astype(np.intp)

    def count_more(self, passed: NDArray[np.intp], v: Floats) -> NDArray[np.intp]:
        """Count as `count_passed` does, from what was passed at lower v."""
        if not self.common:
            return self.count_passed(v)
        slopes, found = np.append(self.pieces.slope, np.inf), passed.copy()
        for _ in range(_STEPS):
            more = slopes.take(found) <= v
            if not more.any():
                return found
            found += more & (found < self.pieces.slope.size)
        return self.count_passed(v)

    def offer(self, v: Floats) -> tuple[Floats, Floats]:
        """Return threshold and acceptance at v = ε/λ ≥ 0.

        A point of the hull where its slope is v; at a tie the upper one.
        """
        passed = self.count_passed(v)
        stretch = self.stretch(passed)
        low, high = stretch.low, stretch.high
        at = np.flatnonzero(high > low)
        theta, q = low.copy(), stretch.low_acceptance.copy()
        if at.size:
            law = self.law if self.common else self.law.take(at)
            root = threshold_on_stretch(law, v[at], low[at], high[at])
            theta[at], q[at] = root, law.cdf(root)
        return theta, q

    def around(self, q: Floats, *, to_the_end: bool = False) -> FlatPieces:
        """Return the pieces whose inside, or upper end, holds an acceptance."""
        every = self.pieces
        below = np.less_equal if to_the_end else np.less
        if self.common:
            k = np.searchsorted(every.low_acceptance, q, side="left") - 1
            inside = (
                (k >= 0) & below(q, every.high_acceptance[np.maximum(k, 0)])
                if len(every)
                else np.zeros(q.size, dtype=np.bool_)
            )
            owners, chosen = np.flatnonzero(inside), k[inside]
        else:
            chosen = np.flatnonzero(
                (every.low_acceptance < q[every.owner]) & below(q[every.owner], every.high_acceptance)
            )
            owners = every.owner[chosen]
        return FlatPieces(owners.astype(np.intp), *(getattr(every, name)[chosen] for name in FlatPieces.columns()))

    def join_between(self, before: NDArray[np.intp], after: NDArray[np.intp]) -> FlatPieces:
        """Return one piece from first to last end for owners who pass pieces."""
        owners = np.flatnonzero(after > before)
        start = self.first(owners)
        first, last = start + before[owners], start + after[owners] - 1
        p = self.pieces
        return FlatPieces(
            owners, p.low[first], p.high[last], p.low_acceptance[first], p.high_acceptance[last], p.slope[first]
        )

    def first(self, owners: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the place of each owner's first piece among all pieces."""
        return np.zeros_like(owners) if self.common else np.searchsorted(self.pieces.owner, owners, side="left")

    def stretch(self, passed: NDArray[np.intp]) -> Stretch:
        """Return the rising stretch of each owner, by the number of pieces she has passed."""
        if self.common:  # one of few
            every, low, high = self.pieces, [float(self.law.low)], [float(self.law.high)]
            columns = (
                np.concatenate([low, every.high]), np.concatenate([every.low, high]),
                np.concatenate([[0.0], every.high_acceptance]), np.concatenate([every.low_acceptance, [1.0]]),
                np.concatenate([[-np.inf], every.slope]), np.concatenate([every.slope, [np.inf]]),
            )  # fmt: skip
            return Stretch(*(np.take(column, passed) for column in columns))
        size = passed.size
        piece = self.first(np.arange(size, dtype=np.intp)) + passed
        count = np.bincount(self.pieces.owner, minlength=size)
        after, before = np.flatnonzero(passed > 0), np.flatnonzero(passed < count)

        def column(default: float | Floats, name: str, owners: NDArray[np.intp], shift: int) -> Floats:
            values = np.broadcast_to(np.asarray(default, dtype=np.float64), (size,)).copy()
            values[owners] = getattr(self.pieces, name)[piece[owners] - shift]
            return values

        return Stretch(
            low=column(self.law.low, "high", after, 1),
            high=column(self.law.high, "low", before, 0),
            low_acceptance=column(0.0, "high_acceptance", after, 1),
            high_acceptance=column(1.0, "low_acceptance", before, 0),
            slope_before=column(-np.inf, "slope", after, 1),
            slope_after=column(np.inf, "slope", before, 0),
        )
