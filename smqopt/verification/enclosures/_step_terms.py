"""Terms of owners whose law is a table, in closed form.

The cost curve C(q) = q F⁻¹(q) is then made of pieces on which F⁻¹ is straight or constant, and
max_q {e q − p C(q)} is the largest of the tops of parabolas, in closed form. The maximum runs over
the whole curve, so it is that over its convex hull (ironing, lotteries) without any hull being
built. With t ∈ [0, 1] along a piece from (q₀, θ₀), of share s and width w, h = (q₀ + s t)(e − pθ₀ −
p w t) = a + b t − c t². Where prices have a floor and a ceiling, the curve is what lies between
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric import Ball, Floats
from smqopt.valuation import StepLaw
from smqopt.verification.enclosures._curve import Numbers, Rows

PRUNED = 2.0**-40
"""A piece whose top lies below the largest by more than this share of |e| + pθ̄ is not looked at
again: that is far more than rounding."""
UNDERFLOW = 2.0**-1000
"""And by more than this, in units of e."""


def listed_law(prices: Sequence[float], acceptances: Sequence[Ball]) -> StepLaw:
    """Return the points of the cost curve of an owner whose price must be on a list.

    Parameters
    ----------
    prices
        What she may be offered, at least one price.
    acceptances
        F there.
    """
    none = (Fraction(0),) * len(prices)
    return StepLaw(tuple(acceptances), none, tuple(map(Fraction, prices)), none)


@dataclass(frozen=True, eq=False)
class StepCurve:
    """Owners whose laws are tables."""

    tables: Sequence[StepLaw]
    which: Callable[[int], int]
    """The number of each owner's table."""
    _known: dict[tuple[int, float], Ball] = field(default_factory=dict)

    def acceptances(
        self,
        place: NDArray[np.intp],
        threshold: Floats,
        low: Floats,  # noqa: ARG002 -- tables know their ends
        high: Floats,  # noqa: ARG002
    ) -> list[Ball]:
        """Return F at the thresholds."""
        return [self._cdf(self.which(k), theta) for k, theta in zip(place.tolist(), threshold.tolist(), strict=True)]

    def tops(self, rows: Rows, known: Sequence[Ball | None]) -> Ball:  # noqa: ARG002 -- nothing is touched
        """Return Σ m max_q {e q − p C(q)}."""
        total = arb(0)
        numbers = np.array([self.which(place) for place in rows.place.tolist()], dtype=np.intp)
        for number in np.unique(numbers).tolist():
            own = numbers == number
            total += _tops(self.tables[number], rows.requirement[own], rows.price[own], rows.count[own])
        return total

    def _cdf(self, number: int, theta: float) -> Ball:
        key = number, theta
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.tables[number].enclosed_cdf(theta)
        return found


def _tops(table: StepLaw, requirement: Numbers, price: Numbers, count: Numbers) -> Ball:
    total, pieces = arb(0), table.balls()
    e, p = ([arb(x) for x in column.tolist()] for column in (requirement, price))
    for own_e, own_p, m, near in zip(e, p, count.tolist(), _candidates(pieces, e, p), strict=True):
        if own_e <= 0:  # no offer is as good
            continue
        tops = [_top(own_e, own_p, *pieces[k]) for k in near]
        best = arb(0)
        for top in tops:
            best = best.max(top)
        total += arb(m) * best
    return total


def _top(e: Ball, price: Ball, q: Ball, s: Ball, t: Ball, w: Ball) -> Ball:
    """Return the top of a piece, or at least that where balls leave it open."""
    margin = e - price * t
    a = q * margin
    if w == 0:
        return a
    b, c = s * margin - price * w * q, price * w * s
    if b <= 0:
        return a
    if b >= 2 * c:
        return a + b - c
    return a + b * b / (4 * c) if c > 0 else a.max(a + b)


def _candidates(pieces: list[tuple[Ball, Ball, Ball, Ball]], e: list[Ball], p: list[Ball]) -> list[list[int]]:
    """Return, for each owner, the pieces on which the top may lie.

    In doubles, each top is off by less than 32 units in the last place of |e| + pθ̄, by a few
    underflows, and by what the balls leave open.
    """
    q, s, t, w = (np.array([float(piece[k].mid()) for piece in pieces]) for k in range(4))
    middles = (np.array([float(x.mid()) for x in column]) for column in (e, p))
    radii = (np.array([float(x.rad()) for x in column]) for column in (e, p, [piece[0] for piece in pieces]))
    (requirement, price), (open_e, open_p, open_q) = middles, radii
    if not np.isfinite(price).all():
        return [list(range(q.size))] * len(e)
    found: list[list[int]] = []
    with np.errstate(all="ignore"):
        for start in range(0, len(e), 1 << 12):
            block = slice(start, start + (1 << 12))
            scale = -np.frexp(np.maximum(np.abs(requirement), price * np.max(t + w))[block, None])[1]  # no underflow
            own_e, own_p = np.ldexp(requirement[block, None], scale), np.ldexp(price[block, None], scale)
            margin = own_e - own_p * t
            a, b, c = q * margin, s * margin - own_p * w * q, own_p * w * s
            inner = np.where(c > 0, b * (b / (4 * c)), 0.0)
            tops = a + np.where(b <= 0, 0.0, np.where(b >= 2 * c, b - c, inner))
            longest = np.max(t + w)
            size = np.abs(own_e) + own_p * longest
            left_open = 4 * (
                np.ldexp(open_e[block, None] + open_p[block, None] * longest, scale) + np.max(open_q) * size
            )
            close = ~(tops < np.max(tops, axis=1, keepdims=True) - PRUNED * size - left_open - UNDERFLOW)
            found += [np.flatnonzero(row).tolist() for row in close]
    return found
