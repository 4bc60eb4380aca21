"""The sums over owners whose law is a table: a histogram, a price list, a known value.

The cost curve C(q) = q F⁻¹(q) is then made of pieces on which F⁻¹ is straight or constant, and max_q {ε q − λ C(q)} is the largest of the
tops of parabolas, in closed form. The maximum runs over the whole curve, so it is that over its convex hull (ironing, lotteries) without any hull
being built. With t ∈ [0, 1] along a piece from (q₀, θ₀), of share s and width w, h = (q₀ + s t)(ε − λθ₀ − λ w t) = a + b t − c t².
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric.balls import Ball, ball
from smqopt.valuation.base import Valuation
from smqopt.valuation.discrete import Discrete
from smqopt.valuation.piecewise_uniform import PiecewiseUniform
from smqopt.valuation.piecewise_uniform_by_owner import PiecewiseUniformByOwner
from smqopt.valuation.point_mass import PointMass
from smqopt.verification.proof.totals import Rows, Totals

__all__ = ["StepLaw", "step_law", "step_totals"]

Floats = NDArray[np.float64]

PRUNED = 2.0**-40
"""A piece whose top lies below the largest by more than this share of ε + λθ̄ is not looked at again: that is far more than rounding."""
UNDERFLOW = 2.0**-1000
"""And by more than this, in units of ε."""


@dataclass(frozen=True, eq=False)
class StepLaw:
    """The pieces of one cost curve, exact."""

    acceptance: tuple[Fraction, ...]
    """q₀ of each piece: F at its lower end; for an atom, F there."""
    share: tuple[Fraction, ...]
    """Its mass; 0 for an atom, which is a point of the curve."""
    low: tuple[Fraction, ...]
    """θ₀, in currency."""
    width: tuple[Fraction, ...]

    def balls(self) -> list[tuple[Ball, Ball, Ball, Ball]]:
        """Give the pieces as balls, at the caller's precision."""
        columns = (self.acceptance, self.share, self.low, self.width)
        return [(ball(q), ball(s), ball(t), ball(w)) for q, s, t, w in zip(*columns, strict=True)]

    def cdf(self, theta: float) -> Fraction:
        """Give F(θ), exact."""
        t = Fraction(theta)
        k = sum(low <= t for low in self.low) - 1
        if k < 0:
            return Fraction(0)
        along = min((t - self.low[k]) / self.width[k], Fraction(1)) if self.width[k] else Fraction(0)
        return self.acceptance[k] + self.share[k] * along


def step_law(law: Valuation) -> tuple[Sequence[StepLaw], Callable[[int], int]] | None:
    """Give the tables of a law and the number of each owner's table; None where the law is none of tables."""
    if isinstance(law, PiecewiseUniform):
        return [_histogram(law)], lambda _: 0
    if isinstance(law, PiecewiseUniformByOwner):
        which = law.which.tolist()
        return [_histogram(table) for table in law.histograms], lambda owner: which[owner]
    if isinstance(law, Discrete):
        return [_atoms(law.values.tolist(), law.masses.tolist())], lambda _: 0
    if isinstance(law, PointMass):
        values = np.atleast_1d(np.asarray(law.value, dtype=np.float64)).tolist()
        return [_atoms([value], [1.0]) for value in values], (lambda owner: owner) if law.size else (lambda _: 0)
    return None


def _histogram(law: PiecewiseUniform) -> StepLaw:
    masses, edges = [Fraction(p) for p in law.masses.tolist()], [Fraction(e) for e in law.edges.tolist()]
    total = sum(masses, Fraction(0))
    below = itertools.accumulate(masses, initial=Fraction(0))
    rows = [
        (q / total, p / total, a, b - a)
        for q, p, (a, b) in zip(below, masses, itertools.pairwise(edges), strict=False)
        if p
    ]
    q, s, t, w = zip(*rows, strict=True)
    return StepLaw(q, s, t, w)


def _atoms(values: list[float], masses: list[float]) -> StepLaw:
    exact = [Fraction(p) for p in masses]
    total = sum(exact, Fraction(0))
    none = (Fraction(0),) * len(exact)
    return StepLaw(tuple(p / total for p in itertools.accumulate(exact)), none, tuple(map(Fraction, values)), none)


def step_totals(tables: Sequence[StepLaw], which: Callable[[int], int], rows: Rows, price: Ball) -> Totals:
    """Enclose the sums over owners whose laws are tables.

    Parameters
    ----------
    tables, which
        The laws, and the number of each owner's.
    rows
        The owners, k rows; `touch` is not used.
    price
        λ > 0, exact.
    """
    privacy, spend, top = arb(0), arb(0), arb(0)
    places = rows.place.tolist()
    numbers = np.array([which(place) for place in places], dtype=np.intp)
    known: dict[tuple[int, float], Fraction] = {}
    columns = (column.tolist() for column in (rows.epsilon, rows.count, rows.threshold, rows.offered))
    for number, epsilon, count, theta, offered in zip(numbers.tolist(), *columns, strict=True):
        if offered:
            if (number, theta) not in known:
                known[number, theta] = tables[number].cdf(theta)
            bought = arb(count) * ball(known[number, theta])
            privacy += arb(epsilon) * bought
            spend += arb(theta) * bought
    for number in np.unique(numbers).tolist():
        own = numbers == number
        top += _tops(tables[number], rows.epsilon[own], rows.count[own], price)
    return Totals(privacy, spend, top)


def _tops(table: StepLaw, epsilon: Floats, count: Floats, price: Ball) -> Ball:
    total = arb(0)
    balls = table.balls()
    for e, m, pieces in zip(
        epsilon.tolist(), count.tolist(), _candidates(table, epsilon, float(price.mid())), strict=True
    ):
        if e > 0:
            best = arb(0)
            for k in pieces:
                best = best.max(_top(arb(e), price, *balls[k]))
            total += arb(m) * best
    return total


def _top(e: Ball, price: Ball, q: Ball, s: Ball, t: Ball, w: Ball) -> Ball:
    """Give the top of a piece; where balls do not tell on which side of its ends that lies, at least that."""
    margin = e - price * t
    a = q * margin
    if w == 0:
        return a
    b, c = s * margin - price * w * q, price * w * s
    if b <= 0:
        return a
    return a + b - c if b >= 2 * c else a + b * b / (4 * c)


def _candidates(table: StepLaw, epsilon: Floats, price: float) -> list[list[int]]:
    """Give, for each owner, the pieces on which the top may lie; the others are below by more than rounding.

    In doubles, each top is off by less than 32 units in the last place of ε + λθ̄, and by a few underflows.
    """
    q, s, t, w = (
        np.array([float(x) for x in column]) for column in (table.acceptance, table.share, table.low, table.width)
    )
    if not np.isfinite(price):
        return [list(range(q.size))] * epsilon.size
    found: list[list[int]] = []
    with np.errstate(all="ignore"):
        for start in range(0, epsilon.size, 1 << 12):
            e = epsilon[start : start + (1 << 12), None]
            margin = e - price * t
            a, b, c = q * margin, s * margin - price * w * q, price * w * s
            inner = np.where(c > 0, b * b / (4 * c), 0.0)
            tops = a + np.where(b <= 0, 0.0, np.where(b >= 2 * c, b - c, inner))
            size = e + price * (t[-1] + w[-1])
            close = ~(tops < np.max(tops, axis=1, keepdims=True) - PRUNED * size - UNDERFLOW)
            found += [np.flatnonzero(row).tolist() for row in close]
    return found
