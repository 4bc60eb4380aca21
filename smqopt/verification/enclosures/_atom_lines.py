"""Support lines of price lists, whose cost curves are points with an exact hull."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from smqopt.numeric import Floats, ball, precision, rounded_down, rounded_up
from smqopt.valuation import Discrete, Index, PointMass
from smqopt.verification.enclosures._line_protocol import BITS, Lines


@dataclass(frozen=True, eq=False)
class AtomLines:
    """The vertices of the hull of a price list's cost curve."""

    values: Floats
    low: Floats
    high: Floats
    slope_above: Floats
    slope_below: Floats
    first_slope: float
    rule: str = "the cost curve is a table: the lower hull of its points, exact"
    slack: float = 0.0
    jumps: float = 0.0
    digest: str = ""

    def ends(self, owners: Index) -> tuple[float | Floats, float | Floats]:  # noqa: ARG002 -- common to all
        return float(self.values[0]), float(self.values[-1])

    def at(self, theta: Floats, owners: Index) -> Lines:  # noqa: ARG002
        k = np.searchsorted(self.values, theta, side="right") - 1
        on = theta == self.values[k]
        columns = (self.low[k], self.high[k], self.slope_above[k], self.slope_below[k])
        low, high, above, below = columns
        return Lines(low, high, np.where(on, above, np.nan), np.where(on, below, np.nan))


def atom_lines(law: Discrete | PointMass) -> AtomLines:
    values, masses = (
        (law.values.tolist(), law.masses.tolist()) if isinstance(law, Discrete) else ([float(law.low)], [1.0])
    )
    exact = [Fraction(p) for p in masses]
    q = [p / sum(exact) for p in itertools.accumulate(exact)]
    points = [(Fraction(0), Fraction(0)), *((p, p * Fraction(v)) for p, v in zip(q, values, strict=True))]
    hull: list[int] = []
    for k in range(len(points)):
        while len(hull) > 1 and _slope(points, hull[-1], k) < _slope(points, hull[-2], hull[-1]):
            hull.pop()
        hull.append(k)
    slopes = [_slope(points, a, b) for a, b in itertools.pairwise(hull)]
    above, below = np.full(len(values), np.nan), np.full(len(values), np.nan)
    for place, k in enumerate(hull[1:]):
        below[k - 1] = rounded_up(ball(slopes[place]))
        above[k - 1] = rounded_down(ball(slopes[place + 1])) if place + 1 < len(slopes) else np.inf
    with precision(BITS):
        enclosed = [ball(p) for p in q]
    return AtomLines(
        np.array(values), np.array([rounded_down(p) for p in enclosed]), np.array([rounded_up(p) for p in enclosed]),
        above, below, rounded_down(ball(slopes[0])),
    )  # fmt: skip


def _slope(points: Sequence[tuple[Fraction, Fraction]], a: int, b: int) -> Fraction:
    return (points[b][1] - points[a][1]) / (points[b][0] - points[a][0])
