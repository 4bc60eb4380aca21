"""Laws whose F is an exact table: stretches on which it is straight, and atoms."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from smqopt.numeric import Ball, Floats, ball
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.tabular._discrete import Discrete
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform
from smqopt.valuation.tabular._piecewise_uniform_by_owner import PiecewiseUniformByOwner
from smqopt.valuation.tabular._point_mass import PointMass


@dataclass(frozen=True, eq=False)
class StepLaw:
    """The pieces of one cost curve, exact."""

    acceptance: tuple[Fraction | Ball, ...]
    """q₀ of each piece: F at its lower end; for an atom, F there. A ball where it is that of
    another law."""
    share: tuple[Fraction, ...]
    """Its mass; 0 for an atom, which is a point of the curve."""
    low: tuple[Fraction, ...]
    """θ₀, in currency."""
    width: tuple[Fraction, ...]

    def balls(self) -> list[tuple[Ball, Ball, Ball, Ball]]:
        """Return the pieces as balls, at the caller's precision."""
        columns = ((_as_ball(x) for x in column) for column in (self.acceptance, self.share, self.low, self.width))
        return list(zip(*columns, strict=True))

    def cdf(self, theta: float | Fraction) -> Fraction | Ball:
        """Return F(θ), exact; a ball where acceptances are."""
        t = Fraction(theta)
        k = sum(low <= t for low in self.low) - 1
        if k < 0:
            return Fraction(0)
        along = min((t - self.low[k]) / self.width[k], Fraction(1)) if self.width[k] else Fraction(0)
        first = self.acceptance[k]
        if not isinstance(first, Fraction):  # of another law, an atom
            return first + ball(self.share[k] * along)
        return first + self.share[k] * along

    def enclosed_cdf(self, theta: float) -> Ball:
        """Return F(θ) as a ball, at the caller's precision."""
        return _as_ball(self.cdf(theta))

    def cdf_of_ball(self, theta: Ball) -> Ball:
        """Return F of a ball; NaN where an edge lies in it."""
        if theta.is_exact():
            mantissa, exponent = theta.man_exp()
            return _as_ball(self.cdf(Fraction(int(mantissa)) * Fraction(2) ** int(exponent)))
        for low, high, q, slope in self.lines():
            if ball(low) < theta < ball(high):
                return ball(q) + ball(slope) * (theta - ball(low))
        return arb("nan")

    def pdf_of_ball(self, theta: Ball) -> Ball:
        """Return f of a ball; NaN where an edge lies in it."""
        return next((ball(slope) for low, high, _, slope in self.lines() if ball(low) < theta < ball(high)), arb("nan"))

    def lines(self) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """Yield ends, F at the low end and density of each stretch, even where it is 0."""
        rows = list(zip(self.low, self.width, self.acceptance, self.share, strict=True))
        for (low, width, q, share), (end, *_) in itertools.pairwise([*rows, (self.low[-1] + self.width[-1],)]):
            if width:
                yield low, low + width, q, share / width
            if low + width < end:
                yield low + width, end, q + share, Fraction(0)

    def restrict(self, floor: float, ceiling: float) -> StepLaw:
        """Return what is left of the curve where prices lie between a floor and a ceiling.

        A floor above the support buys for sure. No offer needs no piece: it is worth 0.
        """
        first, last = self.low[0], max(low + width for low, width in zip(self.low, self.width, strict=True))
        least, most = max(Fraction(floor), first), max(last, Fraction(floor)) if ceiling >= last else Fraction(ceiling)
        rows = [(self.cdf(least), Fraction(0), least, Fraction(0))] if first < least <= most else []
        for q, s, t, w in zip(self.acceptance, self.share, self.low, self.width, strict=True):
            low, high = max(t, least), min(t + w, most)
            if low <= high:
                part = (high - low) / w if w else Fraction(0)
                rows.append((self.cdf(low) if w else q, s * part, low, high - low))
        if not rows:
            rows = [(Fraction(0), Fraction(0), first, Fraction(0))]
        q_, s_, t_, w_ = zip(*rows, strict=True)
        return StepLaw(q_, s_, t_, w_)


def _as_ball(x: Fraction | Ball) -> Ball:
    return ball(x) if isinstance(x, Fraction) else x


def step_law(law: Valuation) -> tuple[Sequence[StepLaw], Callable[[int], int]] | None:
    """Return a law's tables and each owner's number; None where it has none."""
    if isinstance(law, PiecewiseUniform):
        return [_histogram(law.edges, law.masses)], lambda _: 0
    if isinstance(law, PiecewiseUniformByOwner):
        which = law.which.tolist()
        return [_histogram(table.edges, table.masses) for table in law.histograms], lambda owner: which[owner]
    if isinstance(law, Discrete):
        return [_atoms(law.values.tolist(), law.masses.tolist())], lambda _: 0
    if isinstance(law, PointMass):
        values = np.atleast_1d(np.asarray(law.value, dtype=np.float64)).tolist()
        return [_atoms([value], [1.0]) for value in values], (lambda owner: owner) if law.size else (lambda _: 0)
    return None


def _histogram(of_edges: Floats, of_masses: Floats) -> StepLaw:
    masses, edges = [Fraction(p) for p in of_masses.tolist()], [Fraction(e) for e in of_edges.tolist()]
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
