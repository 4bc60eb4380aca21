"""Answers to a price of a law of atoms or of straight pieces, by one search.

The threshold is straight in v = ε/λ on each piece of the hull of C, or constant; F is straight in
the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smqopt.numeric import Floats, Mask
from smqopt.valuation.ironing._guided_search import GuidedSearch
from smqopt.valuation.ironing._ironed_law import Ironed
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.tabular._discrete import Discrete
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform
from smqopt.valuation.tabular._point_mass import PointMass


@dataclass(frozen=True, eq=False)
class StepResponse:
    """What owners answer to a price, k pieces; shape (k,) each but for the search."""

    begins: GuidedSearch
    """The values of v at which the second piece and those above begin."""
    low: Floats
    high: Floats
    base: Floats
    """On a piece θ = base + v/2, kept between low and high."""
    acceptance: Floats
    """F at the low threshold of each piece,"""
    density: Floats
    """and its slope from there."""
    ends_at: Floats
    """F at the high threshold of each piece."""

    def offer(self, v: Floats) -> tuple[Floats, Floats]:
        """Return threshold and acceptance at v = ε/λ ≥ 0 (KKT); shape (m,) each."""
        k = self.begins(v)
        if not self.density.any():
            return np.take(self.low, k), np.take(self.acceptance, k)
        low, high = np.take(self.low, k), np.take(self.high, k)
        theta = 0.5 * v
        theta += np.take(self.base, k)
        np.clip(theta, low, high, out=theta)
        q = theta - low
        q *= np.take(self.density, k)
        q += np.take(self.acceptance, k)
        at_high = np.flatnonzero(theta >= high)
        q[at_high] = self.ends_at[k[at_high]]
        return theta, q

    estimate = offer
    """The same: nothing is estimated."""

    def corners(self) -> list[tuple[float, float]]:
        """Return the values of v at which the answer jumps, as intervals."""
        return [(v, v) for v in self.begins.edges[self._jumps].tolist()]

    def turns(self) -> Floats:
        """Return the values of v at which the answer turns, rising."""
        ends = 2.0 * (self.high - self.base)[self.density > 0]
        return np.unique(np.concatenate([self.begins.edges[~self._jumps], 2.0 * (self.low - self.base)[:1], ends]))

    @cached_property
    def _jumps(self) -> Mask:
        at = self.begins.edges
        return self.offer(at.copy())[1] - self.offer(np.nextafter(at, -np.inf))[1] > _JUMP


_JUMP = 2.0**-40
"""An acceptance that rises by less than this between two doubles does not jump."""


def step_response(answer: Valuation | Ironed) -> StepResponse | None:
    """Return the answers of a common law of atoms or of straight pieces; else None."""
    law = answer.law if isinstance(answer, Ironed) else answer
    if law.size is not None:
        return None
    if isinstance(law, Discrete | PointMass):
        pieces = law.flat_pieces()
        theta = np.concatenate([[float(law.low)], pieces.high])
        q = np.concatenate([[0.0], pieces.high_acceptance])
        return StepResponse(GuidedSearch(pieces.slope), theta, theta, theta, q, np.zeros(q.size), q)
    if isinstance(law, PiecewiseUniform):
        own, begins = law.table.quadratics, law.table.hulls.from_price
        used = np.flatnonzero(begins < np.inf)
        low, high = own.low[used], own.high[used]
        return StepResponse(
            GuidedSearch(begins[used][1:]), low, high, low - 0.5 * own.low_cost[used],
            own.low_acceptance[used], own.share[used] / (high - low), own.high_acceptance[used],
        )  # fmt: skip
    return None
