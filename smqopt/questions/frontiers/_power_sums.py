"""Spend and purchased privacy at every price in closed form, for power laws.

Let x = 1/λ. For F(θ) = ((θ − low)/w)^k an owner gets no offer up to x = low/ε, the top of her
support from x = (low + w(1 + 1/k))/ε on, and between the two θ − low = s u with s = k/(k + 1) and u
= εx − low (KKT). Her spend and her privacy are then sums of a few powers of x, where low = 0 or k
is a small whole number. So owners are sorted by the price at which they reach their top, and
running sums of their coefficients give the market's spend and privacy at any price.

Owners are gathered in octaves of the price at which they reach their top, and x is measured in it,
so that nothing overflows. Where low = 0 all sums are of positive terms. Each sum comes with a bound
on its rounding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Market
from smqopt.numeric import Floats
from smqopt.questions.frontiers._price_blocks import ULP, Block, PowerSums, PriceTerms
from smqopt.valuation import Power, Uniform

_ROW = 256
"""PriceTerms added one after another, before rows are added."""
_MOST_EXPONENTS = 16
"""With more different exponents than this the sums would be many and short."""
_LARGEST_BINOMIAL = 8.0
"""The largest whole exponent that is expanded in powers of x."""
_MOST_BLOCKS = 512
_CORNERS = 256
"""About so many corners are kept."""
_OPERATIONS = 16
"""Roundings of one term, beside those that grow with the exponent."""


def power_sums(market: Market) -> PowerSums | None:
    """Sort owners and add up coefficients; None where there is no such form."""
    blocks: list[Block] = []
    for law, owners in market.valuation.parts():
        if not isinstance(law, (Uniform, Power)):
            return None
        groups = _groups(law, market.epsilon[owners], market.weights[owners])
        if groups is None or any(group.binomial is None for group in groups):
            return None
        for group in groups:
            blocks += group.blocks()
            if len(blocks) > _MOST_BLOCKS:
                return None
    if not blocks or not all(block.finite for block in blocks):
        return None
    step = max(1, sum(block.last.size for block in blocks) // _CORNERS)
    ends = [array[::step] for block in blocks for array in (block.first, block.last)]
    return PowerSums(tuple(blocks), np.unique(np.concatenate([*ends, [block.last[-1] for block in blocks]])))


@dataclass(frozen=True, eq=False)
class _Group:
    """Owners with ε > 0, one exponent, and low = 0 all or none."""

    k: float
    epsilon: Floats
    low: Floats | float
    width: Floats | float
    counts: Floats | float

    @property
    def binomial(self) -> int | None:
        """The degree in x of the expansion; 0 for one power, None where none."""
        if isinstance(self.low, float) and self.low == 0.0:
            return 0
        return int(self.k) if self.k == math.floor(self.k) and self.k <= _LARGEST_BINOMIAL else None

    def blocks(self) -> Iterator[Block]:
        with np.errstate(over="ignore"):
            last = (self.low + self.width * (1.0 + 1.0 / self.k)) / self.epsilon
        order = np.argsort(last)
        last = last[order]
        octaves = np.frexp(last)[1]
        edges = [0, *(np.flatnonzero(np.diff(octaves)) + 1).tolist(), last.size]
        for start, end in itertools.pairwise(edges):
            rows = order[start:end]
            yield self.rows(rows).block(last[start:end], math.ldexp(1.0, int(octaves[start])))

    def rows(self, rows: NDArray[np.intp]) -> _Group:
        low, width, counts = (
            value[rows] if isinstance(value, np.ndarray) else value for value in (self.low, self.width, self.counts)
        )
        return _Group(self.k, self.epsilon[rows], low, width, counts)

    def block(self, last: Floats, scale: float) -> Block:
        """Lay out one octave; its owners are in the order in which they reach their tops."""
        first, order = np.empty(0), None
        if self.binomial:
            first = np.asarray(self.low / self.epsilon)
            order = np.argsort(first)
            first = first[order]
        overlap = bool(first.size) and bool(first[-1] > last[0])
        spend, privacy = self._expand(last, scale)
        top, m = self.counts * (self.low + self.width), last.size
        steps = _ROW + m / _ROW + _OPERATIONS * (2.0 + self.k)
        return Block(
            scale,
            first,
            last,
            _terms(spend, top, m, order, overlap=overlap),
            _terms(privacy, self.counts * self.epsilon, m, order, overlap=overlap),
            steps * ULP,
        )

    def _expand(self, last: Floats, scale: float) -> tuple[dict[float, Floats], dict[float, Floats]]:
        """Return each owner's coefficients of spend and privacy, by power of x/scale."""
        k, degree = self.k, self.binomial
        if not degree:  # privacy ε (x/last)^k, spend w (x/last)^(k+1)
            share = scale / last
            base = share**k
            return {k + 1.0: self.counts * self.width * (base * share)}, {k: self.counts * self.epsilon * base}
        factor = (k / (k + 1.0) / self.width) ** degree
        slope = self.epsilon * scale
        spent, bought = self.counts * factor, self.counts * self.epsilon * factor
        spend = {k + 1.0: k / (k + 1.0) * slope ** (degree + 1) * spent}
        privacy: dict[float, Floats] = {}
        for i in range(degree + 1):  # q = (s u/w)^k and spend (low + s u) q, powers of u = εx − low multiplied out
            term = math.comb(degree, i) * (-1.0) ** (degree - i) * slope**i * self.low ** (degree - i)
            privacy[float(i)] = term * bought
            if i != 1:
                spend[float(i)] = (1.0 - i) / (degree + 1.0 - i) * term * self.low * spent
        return spend, privacy


def _groups(law: Uniform | Power, epsilon: Floats, counts: Floats) -> list[_Group] | None:
    """Split owners by exponent, and by whether low = 0; None if too many.

    Owners with ε = 0 never get an offer.
    """
    groups = []
    k = np.asarray(getattr(law, "k", 1.0), dtype=np.float64)
    exponents = np.unique(k)
    if exponents.size > _MOST_EXPONENTS:
        return None
    sells = epsilon > 0
    for exponent in exponents.tolist():
        own = sells & (k == exponent)
        low = np.asarray(law.low)
        for zero in (True, False):
            rows = np.flatnonzero(own & (low == 0 if zero else low > 0))
            if not rows.size:
                continue
            width = law.width[rows] if isinstance(law.width, np.ndarray) else float(law.width)
            start: Floats | float = 0.0 if zero else low[rows] if low.ndim else float(low)
            groups.append(_Group(exponent, epsilon[rows], start, width, counts[rows]))
    return groups


def _terms(
    columns: dict[float, Floats], tops: Floats | float, m: int, order: NDArray[np.intp] | None, *, overlap: bool
) -> PriceTerms:
    """Add up columns in the order of tops, and of first offers if given.

    `ended` is for a block where these overlap.
    """
    unended = np.stack([_running(column[::-1])[::-1] for column in columns.values()])
    begun = unended if order is None else np.stack([_running(column[order]) for column in columns.values()])
    ended = np.stack([_running(column) for column in columns.values()]) if overlap else begun
    heights = _running(tops) if isinstance(tops, np.ndarray) else tops * np.arange(m + 1.0)
    return PriceTerms(np.array(list(columns)), begun, ended, unended, heights)


def _running(column: Floats) -> Floats:
    """Add up from the first on, shape (m + 1,), the first sum 0.

    No sum has more than `_ROW` + m/`_ROW` roundings.
    """
    m = column.size
    rows = -(-m // _ROW)
    padded = np.zeros(rows * _ROW)
    padded[:m] = column
    within = np.cumsum(padded.reshape(rows, _ROW), axis=1)
    within[1:] += np.cumsum(within[:-1, -1])[:, None]
    found = np.empty(m + 1)
    found[0], found[1:] = 0.0, within.ravel()[:m]
    return found
