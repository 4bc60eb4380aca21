"""Terms of owners with algebraic F and J, in intervals on arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb

from smqopt.numeric import Ball, Floats, Interval
from smqopt.valuation import Power, Uniform, Valuation
from smqopt.verification.enclosures._curve import Rows

LARGEST_EXPONENT = 32
"""Powers up to this are worked out by multiplication."""
BLOCK = 1 << 16
"""Owners handled at a time."""

AlgebraicLaw = Callable[[Interval, Interval, Interval], tuple[Interval, Interval]]
"""Gives F(θ) and F(θ)/f(θ) from θ and the ends of the support."""


def algebraic_law(law: Valuation) -> AlgebraicLaw | None:
    """Return F and F/f of a law in intervals; None where it has no such form."""
    if isinstance(law, Uniform):
        return _uniform
    if (
        isinstance(law, Power)
        and isinstance(law.k, float)
        and law.k <= LARGEST_EXPONENT
        and law.k * 2 == int(law.k * 2)
    ):
        doubled = int(law.k * 2)
        return lambda theta, low, high: _power(doubled, theta, low, high)
    return None


def _uniform(theta: Interval, low: Interval, high: Interval) -> tuple[Interval, Interval]:
    above = (theta - low).nonnegative()
    return above / (high - low), above


def _power(doubled: int, theta: Interval, low: Interval, high: Interval) -> tuple[Interval, Interval]:
    above = (theta - low).nonnegative()
    share = (above / (high - low)).nonnegative()
    F = share.power(doubled // 2)
    if doubled % 2:
        F = F * share.root()
    return F, above / Interval.exact(np.full(theta.low.shape, 0.5 * doubled))


def algebraic_terms(law: AlgebraicLaw, rows: Rows) -> tuple[Interval, Ball]:
    """Enclose F at tangent points, NaN outside supports, and the sum of tops.

    Parameters
    ----------
    law
        F and F/f.
    rows
        The terms, k of them; requirements, prices and counts are doubles.
    """
    top = arb(0)
    ends = np.empty((2, rows.tangent.size))
    with np.errstate(all="ignore"):
        for start in range(0, rows.tangent.size, BLOCK):
            block = slice(start, start + BLOCK)
            e, p, m, theta, low, high = (
                Interval.exact(column[block])
                for column in (rows.requirement, rows.price, rows.count, rows.tangent, rows.low, rows.high)
            )
            F, rent = law(theta, low, high)
            outside = (theta.low < low.low) | (theta.high > high.high)
            F = Interval(np.where(outside, np.nan, F.low), np.where(outside, np.nan, np.minimum(F.high, 1.0)))
            ends[0, block], ends[1, block] = F.low, F.high
            tops = _tops(e, p, theta, F, rent, low)
            top += arb((m * Interval(tops, tops)).total()[1])
    return Interval(*ends), top


def _tops(e: Interval, p: Interval, theta: Interval, F: Interval, rent: Interval, low: Interval) -> Floats:
    """Bound max_q {e q − p C(q)} by the line at θ and the low end's rest."""
    slope = e - p * (theta + rent)
    value = F * (e - p * theta)
    rest = (Interval.exact(np.ones_like(F.low)) - F).nonnegative()
    beyond = (Interval.exact(np.maximum(slope.high, 0.0)) * rest).high
    before = (Interval.exact(np.maximum(-slope.low, 0.0)) * F).high
    line = np.nextafter(value.high + np.maximum(beyond, before), np.inf)
    from_low = (e - p * low).high
    best = np.where(from_low <= 0, 0.0, np.fmin(line, from_low))
    return np.where(e.high > 0, best, 0.0)
