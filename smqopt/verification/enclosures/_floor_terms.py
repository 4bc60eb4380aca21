"""The terms of owners whose price has a floor inside the support, of any law.

An owner is offered nothing, which is worth 0, or a price from the floor f on, q ≥ F(f). For every
σ ≥ 0 the best of the latter is at most max_q {(e + σ) q − p C(q)} − σ F(f), and max_q {e q − p
C(q)} bounds it too. A good σ is pJ(f) − e, which moves the maximum to the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric import Ball, Floats
from smqopt.verification.enclosures._curve import Curve, Rows


@dataclass(frozen=True, eq=False)
class FlooredCurve:
    """Owners who may be offered no price below a floor each."""

    whole: Curve
    """Theirs without the floors."""
    place: NDArray[np.intp]
    """The place there of each of k owners."""
    floor: Floats
    """In currency, shape (k,)."""
    slope: Floats
    """J at the floor, nearly, shape (k,)."""

    def acceptances(self, place: NDArray[np.intp], threshold: Floats, low: Floats, high: Floats) -> list[Ball]:
        """Return F at the thresholds."""
        return self.whole.acceptances(self.place[place], threshold, low, high)

    def tops(self, rows: Rows, known: Sequence[Ball | None]) -> Ball:
        """Bound Σ m max {0, max_{q ≥ F(f)} {e q − p C(q)}} from above."""
        total, floor = arb(0), self.floor[rows.place]
        at_floor = self.whole.acceptances(
            self.place[rows.place], np.clip(floor, rows.low, rows.high), rows.low, rows.high
        )
        for k, (own, F) in enumerate(zip(known, at_floor, strict=True)):
            one = slice(k, k + 1)
            columns = (getattr(rows, name)[one] for name in ("requirement", "price", "low", "high", "tangent"))
            e, p, low, high, touch = columns
            place, single = self.place[rows.place[one]], np.ones(1)
            best = self.whole.tops(Rows(place, e, p, single, touch, low, high), [own])
            sigma = float((arb(p[0]) * arb(self.slope[rows.place[k]]) - arb(e[0])).mid())
            if floor[k] > low[0] and 0 < sigma < np.inf:
                raised = np.array([arb(e[0]) + arb(sigma)], dtype=object)
                held = self.whole.tops(Rows(place, raised, p, single, floor[one], low, high), [None]) - arb(sigma) * F
                best = best.min(held) if held.is_finite() else best
            total += arb(rows.count[k]) * best.max(arb(0))
        return total
