r"""The h-th smallest of entries that lie in parts, drawn from those near it.

Let m be the h-th smallest. For r > m let j(r) be the number of entries below r, less h − 1: the
cost of r is the sum of the j(r) smallest ε below it (`_order_statistic`), and below m likewise. It
is at least S(j(r)), the sum of the j(r) smallest of all ε bought. So with costs cut at
min(2^8, S(M)) candidates with j(r) ≥ M are cut whatever else is so, and for the others it is enough
to know

- the M smallest ε among entries below, at and above m, and
- the M entries next to m on either side, with their ε.

S(M) comes of requirements alone, so a cut cost still moves by at most ε_i when entry i changes: the
draw is ε_i-PDP as it is. A cut result gains at most exp(−S(M)/2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from smqopt.numeric import Floats, Integers
from smqopt.query.exponential._order_statistic import cost_of_passing, ranks_off_at
from smqopt.query.exponential._release import CEILING, draw, lower_to_grid
from smqopt.query.exponential._score import Score

NEAR = 1 << 16
"""M."""


@final
@dataclass(frozen=True, eq=False)
class NearRank:
    """What is kept of entries around m. PRIVATE."""

    counts: tuple[int, int, int]
    """How many entries lie below, at and above m."""
    least: tuple[Floats, Floats, Floats]
    """The M smallest ε of each, ascending, on the grid of the draw."""
    below: tuple[Integers, Floats]
    """The M largest entries below m, descending, with their ε."""
    above: tuple[Integers, Floats]
    """The M smallest entries above m, ascending, with their ε."""

    @classmethod
    def of(cls, entries: Integers, epsilon: Floats, m: int) -> Self:
        """Look at some entries, shape (k,), with what may be spent of each ε."""
        used, _ = lower_to_grid(epsilon)
        sides = (entries < m, entries == m, entries > m)
        return cls(
            (int(sides[0].sum()), int(sides[1].sum()), int(sides[2].sum())),
            (_least(used[sides[0]]), _least(used[sides[1]]), _least(used[sides[2]])),
            _next(entries[sides[0]], used[sides[0]], -1),
            _next(entries[sides[2]], used[sides[2]], 1),
        )

    @classmethod
    def join(cls, every: Sequence[NearRank]) -> NearRank:
        """Put together what is kept of several parts."""
        counts, least = (
            zip(*(one.counts for one in every), strict=True),
            zip(*(one.least for one in every), strict=True),
        )
        low, at, high = (sum(column) for column in counts)
        first, second, third = (_least(np.concatenate(column)) for column in least)
        below = _next(*_together([one.below for one in every]), -1)
        above = _next(*_together([one.above for one in every]), 1)
        return cls((low, at, high), (first, second, third), below, above)

    @property
    def sure(self) -> Floats:
        """S(1), S(2), …, as many as are known, cut at the ceiling. Public."""
        return np.minimum(np.cumsum(_least(np.concatenate(self.least))), CEILING)

    @property
    def ceiling(self) -> float:
        """What costs are cut at. Public."""
        return CEILING if sum(self.counts) <= NEAR else float(self.sure[-1])

    def draw(self, m: int, h: int, low: int, high: int, rng: np.random.Generator | None) -> int:
        """Draw the h-th smallest, which is m, among whole numbers from low to high."""
        return draw(self.score(m, h, low, high), rng)

    def score(self, m: int, h: int, low: int, high: int) -> Score:
        """Return the cost of each candidate. PRIVATE."""
        under, at, over = self.counts
        up_ends, up = self._walk(self.least[0], self.above, under + at - h + 1)
        down_ends, down = self._walk(self.least[2], self.below, over + at - (under + at + over - h))
        start = np.concatenate([[low], down_ends[::-1], [m], [m + 1], up_ends + 1])
        end = np.concatenate([down_ends[::-1], [m], [m + 1], up_ends + 1, [high + 1]])
        cost = np.concatenate([down[::-1], [0.0], up])
        held = end > start
        return Score(start[held], (end - start)[held], cost[held])

    def _walk(self, side: Floats, passed: tuple[Integers, Floats], changes: int) -> tuple[Integers, Floats]:
        """Return where the cost changes on the way out from m, and the cost up to there.

        One cost more than ends: that of all that lies beyond.
        """
        kept = _least(np.concatenate([side, self.least[1]]))
        values, epsilon = passed
        if changes > kept.size:
            return values[:0], np.array([self.ceiling])
        base = float(kept[:changes].sum())
        more = cost_of_passing(kept[changes:], epsilon, self.ceiling - base)
        cost = np.minimum(base + np.append(0.0, more), self.ceiling)
        cost[np.arange(cost.size) + changes > NEAR] = self.ceiling
        last = np.append(values[1:] != values[:-1], True) if values.size else np.zeros(0, dtype=bool)
        ends = values[last]
        return ends, cost[np.append(0, np.flatnonzero(last) + 1)]

    def ranks_off(self, h: int, others: int, level: float) -> float:
        """Return t: the answer is within t ranks with probability `level`. Public."""
        return ranks_off_at(self.sure, max(h, sum(self.counts) - h + 1), others, level)


def _together(every: Sequence[tuple[Integers, Floats]]) -> tuple[Integers, Floats]:
    return np.concatenate([entries for entries, _ in every]), np.concatenate([epsilon for _, epsilon in every])


def _least(epsilon: Floats) -> Floats:
    return np.sort(epsilon if epsilon.size <= NEAR else np.partition(epsilon, NEAR - 1)[:NEAR])


def _next(entries: Integers, epsilon: Floats, way: int) -> tuple[Integers, Floats]:
    """Return the M entries that come first in a direction, with their ε."""
    if entries.size > NEAR:
        some = np.argpartition(way * entries, NEAR - 1)[:NEAR]
        entries, epsilon = entries[some], epsilon[some]
    order = np.argsort(way * entries, kind="stable")
    return entries[order], epsilon[order]
