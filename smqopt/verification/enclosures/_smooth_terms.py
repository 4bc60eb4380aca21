"""The terms of owners of a regular law, from F and f at one threshold an owner.

For a regular law h(q) = e q − p C(q) is concave with slope e − pJ(θ), so the line that touches it
at any threshold lies above it: h(q') ≤ h(q) + (e − pJ)(q' − q) (Appendix D; errata E1). Where that
line is too steep, a second one with a slope of the other sign cuts it off: h then ends between the
two. Below, C(q) ≥ q θ̲ gives h(q) ≤ (e − pθ̲)₊ for every law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric import Ball, Floats
from smqopt.valuation import BallLaw, OwnerBalls
from smqopt.verification.enclosures._curve import Rows

TIGHT = 2.0**-44
"""A bound that exceeds the value at its threshold by less than this share of it needs no second
line."""
STEPS = 40
"""The second line touches at most so many doublings of a spacing away."""


@dataclass(frozen=True, eq=False)
class SmoothCurve:
    """Owners of a regular law."""

    law: BallLaw
    """F and f of its owners."""
    _owners: dict[int, OwnerBalls] = field(default_factory=dict)

    def acceptances(self, place: NDArray[np.intp], threshold: Floats, low: Floats, high: Floats) -> list[Ball]:
        """Return F at the thresholds."""
        columns = (column.tolist() for column in (place, threshold, low, high))
        return [self._of(k).acceptance(theta, *ends) for k, theta, *ends in zip(*columns, strict=True)]

    def tops(self, rows: Rows, known: Sequence[Ball | None]) -> Ball:
        """Bound Σ m max_q {e q − p C(q)} from above."""
        total = arb(0)
        columns = (getattr(rows, name).tolist() for name in Rows.__dataclass_fields__)
        for F, place, e, price, count, tangent, low, high in zip(known, *columns, strict=True):
            total += arb(count) * _top(self._of(place), arb(e), arb(price), tangent, F, low, high)
        return total

    def _of(self, place: int) -> OwnerBalls:
        own = self._owners.get(place)
        if own is None:
            own = self._owners[place] = self.law(place)
        return own


def _top(own: OwnerBalls, e: Ball, price: Ball, tangent: float, F: Ball | None, low: float, high: float) -> Ball:
    """Bound max_q {e q − p C(q)} from above."""
    from_low = e - price * low
    if from_low <= 0:
        return arb(0)
    from_low = from_low.max(arb(0))
    if price == 0:
        return from_low
    found = _tangent_bound(own, e, price, tangent, F, low, high) + own.jumps * abs(e)
    return found.min(from_low).max(arb(0)) if found.is_finite() else from_low


def _tangent_bound(
    own: OwnerBalls, e: Ball, price: Ball, tangent: float, F: Ball | None, low: float, high: float
) -> Ball:
    """Bound the top by the line at a threshold, or by two."""
    if tangent <= low:
        slope, q = e - price * low, arb(0)
        return _cut_off(own, e, price, low, slope, arb(0), slope, q, low, high)
    if tangent >= high:
        value, slope, q = e - price * high, e - price * (high + 1 / own.pdf(arb(high))), arb(1)
        if not slope.is_finite():  # f vanishes there
            return _tangent_bound(own, e, price, math.nextafter(high, low), None, low, high)
    else:
        q = own.cdf(arb(tangent)) if F is None else F
        value, slope = q * (e - price * tangent), e - price * (tangent + q / own.pdf(arb(tangent)))
    line = value + (slope * (1 - q)).max(-slope * q)
    if line - value <= value * TIGHT:
        return line
    return _cut_off(own, e, price, tangent, line, value, slope, q, low, high)


def _cut_off(
    own: OwnerBalls,
    e: Ball,
    price: Ball,
    tangent: float,
    line: Ball,
    value: Ball,
    slope: Ball,
    q: Ball,
    low: float,
    high: float,
) -> Ball:
    """Bound the top up to where a second line of other slope is tangent."""
    rising = bool(slope > 0)
    if not rising and not slope <= 0:
        return line
    step = math.ulp(tangent)
    for _ in range(STEPS):
        other = tangent + step if rising else tangent - step
        step *= 2
        if not low < other < high:
            break
        p = own.cdf(arb(other))
        second = e - price * (other + p / own.pdf(arb(other)))
        if second <= 0 if rising else second >= 0:
            return line.min(value + slope * (p - q))
    return line
