r"""A market of few rows that bounds what a large one is worth.

What an owner is worth at a price is convex in what she is bought for, and does not fall in it: ψ(r)
= max_θ F(θ)(r − λθ). So owners between two requirements are worth no more together than as many at
the two ends, each end weighing as much as their distances from the other say. Of mean squared
errors r(ε) = a − μ a², a = min(ε, 1/(2μ)), is concave, and so the rows stand at a − κ μ a²: with κ
= 1 − 2^−28 the chord between the ends of a bin lies above r between them, as bins are at most 2^−13
of ε wide, and r bends by at most 2μ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.market._market import Market
from smqopt.numeric import Floats

MANY = 1 << 17
"""From so many rows on, few are sought."""
FEW = 2
"""The rows are at least so many times fewer."""
BEND = 1.0 - 2.0**-28
"""κ."""

_SHIFT = 52 - 13
"""Bits of ε beyond those that number its bin: 2¹³ bins to the octave."""
_DIGITS = 20
"""Bits of a distance within a bin that are kept, rounded up."""
_BLOCK = 1 << 16
LARGEST_BUDGET = 2.0**1000
"""A budget times the owners that stand for one stays a double."""
_LEAST = 2.0**-300
_MOST = 2**52
"""Owners and their shares are counted exactly up to here."""


@dataclass(frozen=True)
class BoundingMarket:
    """A market of few rows, and what it is worth.

    At each price and μ, at least `shares` times as much as the large one.
    """

    market: Market
    shares: int
    """How many owners of the few stand for one; a power of 2."""

    def part(self, total: float) -> float:
        """Return a total of the few rows as one of the large market."""
        return total / self.shares


def few_rows(market: Market) -> BoundingMarket | None:
    """Return few rows that bound a market.

    None where it is small, has more than one law, or its requirements lie too far apart.
    """
    epsilon = market.epsilon
    if market.n < MANY or market.valuation.size is not None or market.population << _DIGITS > _MOST:
        return None
    sells = epsilon > 0
    if not sells.any():
        return None
    chosen = slice(None) if sells.all() else sells
    epsilon, copies = epsilon[chosen], None if market.multiplicity is None else market.weights[chosen]
    bits = epsilon.view(np.int64)
    first, last = int(bits.min() >> _SHIFT), int(bits.max() >> _SHIFT)
    if epsilon.min() < _LEAST or last - first > market.n:
        return None
    at_low, at_high = np.zeros((2, last - first + 2), dtype=np.int64)
    for start in range(0, epsilon.size, _BLOCK):
        own = bits[start : start + _BLOCK]
        which = (own >> _SHIFT) - first
        share = ((own & ((1 << _SHIFT) - 1)) >> (_SHIFT - _DIGITS)) + 1
        m = np.ones(own.size) if copies is None else copies[start : start + _BLOCK]
        count, up = (np.bincount(which, weights=x, minlength=last - first + 1).astype(np.int64) for x in (m, m * share))
        at_high[1:] += up
        at_low[:-1] += (count << _DIGITS) - up
    weight = at_low + at_high
    rows = np.flatnonzero(weight)
    if rows.size * FEW > market.n:
        return None
    ends: Floats = ((first + rows) << _SHIFT).view(np.float64)
    return BoundingMarket(Market(ends, market.valuation, multiplicity=weight[rows]), 1 << _DIGITS)
