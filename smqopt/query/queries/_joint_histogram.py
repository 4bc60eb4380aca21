"""A whole histogram drawn at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats, NumberList
from smqopt.query._public_numbers import checked_clamp, clamp_parameter
from smqopt.query._purchase import Purchase
from smqopt.query.exponential._noise import fewest_changes, sure_costs
from smqopt.query.exponential._score import Score
from smqopt.query.queries._bins import bin_numbers, checked_edges
from smqopt.query.queries._query import Query

LARGEST = 1_000_000
"""The most histograms that are listed."""


@final
@dataclass(frozen=True)
class JointHistogram(Query):
    """The counts of all bins by one P-E law, for few entries and bins.

    A histogram costs what it takes to move entries out of the bins that hold too many: in each of
    these the cheapest entries change. Each owner's ε_i is spent once, not halved, and the counts
    sum to n.

    Parameters
    ----------
    edges
        As for `Histogram`.
    clamp
        As for `Histogram`.

    Raises
    ------
    InputError
        If the edges are not ascending numbers.

    Examples
    --------
    >>> query = JointHistogram([0, 1, 2])
    >>> score = query.score(np.array([0, 1, 1]), np.array([0.5, 0.25, 1.0]))
    >>> query.values(score.results, 3, 3).tolist(), score.cost.tolist()
    ([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 0.0]], [0.5, 0.0, 0.25, 1.25])
    """

    edges: NumberList
    clamp: bool = field(default=False, kw_only=True)

    name = "joint-histogram"
    noise_unit = "owners of the population, in all bins at once"

    def __post_init__(self) -> None:
        checked_clamp(self.name, self.clamp)
        object.__setattr__(self, "edges", checked_edges(self.name, self.edges))

    @property
    def bins(self) -> int:
        """The number of bins."""
        return len(self.edges) - 1

    @property
    def figures(self) -> int:
        """How many numbers an answer holds: one a bin."""
        return self.bins

    def parameters(self) -> dict[str, Any]:
        """Return the edges."""
        return {"edges": list(self.edges), **clamp_parameter(self.clamp)}

    def asked_of(self, purchase: Purchase) -> JointHistogram:
        """Refuse more histograms than can be listed.

        Raises
        ------
        InputError
            If there are too many.
        """
        found = math.comb(purchase.bought + self.bins - 1, self.bins - 1)
        if found > LARGEST:
            raise InputError(
                "query 'joint-histogram'",
                f"lists every histogram, at most {LARGEST}",
                value=found,
                remedy="ask for a histogram, whose bins are drawn one by one",
            )
        return self

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check that every entry lies in a bin; return the bins' numbers."""
        return bin_numbers(self.edges, data, owner_ids, clamp=self.clamp)

    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Return the cost of each histogram, in the order of `histograms`."""
        listed = histograms(entries.size, self.bins)
        cost = np.zeros(len(listed))
        for b in range(self.bins):
            held = np.concatenate([[0.0], np.cumsum(np.sort(epsilon[entries == b]))])
            cost += held[np.maximum(held.size - 1 - listed[:, b], 0)]
        results = np.arange(len(listed), dtype=np.int64)
        return Score(results, np.ones_like(results), np.minimum(cost, ceiling))

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> Floats:
        """Return r n/k for each bin, shape (number of results, bins)."""
        return histograms(bought, self.bins)[results] * population / bought

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:
        """Return t n/k: every bin is off by at most t, with probability `level`.

        To move s entries costs at least S(s). There are at most C(s + bins − 1, bins − 1)² ways to
        say which bins lose and which gain them, so P(s ≥ t) ≤ Σ_{s ≥ t} C(s + bins − 1, bins − 1)²
        exp(−S(s)/2).
        """
        least = sure_costs(epsilon)
        ways = [2.0 * math.log(math.comb(s + self.bins - 1, self.bins - 1)) for s in range(1, epsilon.size + 1)]
        weights = np.exp(np.minimum(np.array(ways) - 0.5 * least, 700.0))
        tail = np.cumsum(weights[::-1])[::-1]
        return fewest_changes(tail, level) * population / epsilon.size


def histograms(entries: int, bins: int) -> NDArray[np.int64]:
    """List every way to put entries into bins, in lexical order, shape (ways, bins)."""
    bars = np.array(list(combinations(range(entries + bins - 1), bins - 1)), dtype=np.int64).reshape(-1, bins - 1)
    ends = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), entries + bins - 1)], axis=1)
    return np.diff(ends, axis=1) - 1
