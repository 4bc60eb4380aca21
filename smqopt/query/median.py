"""The lower median."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat, takewhile
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.query.base import Query
from smqopt.query.entries import whole_entries
from smqopt.query.noise import fewest_changes, sure_costs
from smqopt.query.score import Score

__all__ = ["Median"]

Floats = NDArray[np.float64]

LARGEST = 2**53
"""Whole numbers beyond this are not all doubles."""


@final
@dataclass(frozen=True)
class Median(Query):
    """The lower median of whole numbers: of k entries the h-th smallest, h = ⌈k/2⌉, ties counted (errata E12).

    Parameters
    ----------
    low, high
        The public range of the entries, whole numbers of size at most 2^53, low ≤ high. It must be known without
        looking at the data: a range taken from the bought entries would leak them (errata E19).

    Raises
    ------
    InputError
        If the range is not one.

    Examples
    --------
    >>> score = Median(1, 5).score(np.array([2, 4, 4]), np.array([0.25, 0.5, 1.0]))
    >>> score.results.tolist(), np.repeat(score.cost, score.length).tolist()
    ([1, 2, 3, 4, 5], [0.75, 0.5, 0.5, 0.0, 0.75])
    """

    low: int
    high: int

    name = "median"
    noise_unit = "ranks among the bought entries"

    def __post_init__(self) -> None:
        for key in ("low", "high"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or abs(int(value)) > LARGEST:
                raise InputError(
                    f"median: argument {key!r}",
                    "must be a whole number of size at most 2^53",
                    value=value,
                    remedy="give the public range of the entries",
                )
            object.__setattr__(self, key, int(value))
        if self.low > self.high:
            raise InputError(
                "median: argument 'low'",
                f"must be at most high = {self.high}",
                value=self.low,
                remedy="give the public range of the entries",
            )

    def parameters(self) -> dict[str, Any]:
        """Give the public range."""
        return {"low": self.low, "high": self.high}

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check that every entry is a whole number in the public range."""
        return whole_entries(
            data, owner_ids, self.low, self.high, f"must be a whole number from {self.low} to {self.high}"
        )

    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Give the cost of each candidate (errata, "The median score").

        Sort the entries, d_(1) ≤ … ≤ d_(k), and let m = d_(h). A candidate r > m is the lower median as soon as at
        most h − 1 entries lie below it and at least one changed entry lies on it: keep the h − 1 largest ε among the
        entries below r, change the rest. A candidate r < m: keep the k − h largest ε among the entries above r,
        change the rest. So the cost is constant on (d_(j), d_(j+1)] above and on [d_(j), d_(j+1)) below. Walking
        outwards from m, a heap of the ε to keep, of fixed size, gives up one ε at each entry passed: O(k log k).
        """
        order = np.argsort(entries, kind="stable")
        d, ascending = entries[order], epsilon[order].tolist()
        k = len(ascending)
        h = (k + 1) // 2
        upward = _given_up(ascending[: h - 1], ascending[h - 1 :], ceiling)  # passing d_(h), …, d_(k)
        downward = _given_up(ascending[h:], ascending[h - 1 :: -1], ceiling)  # passing d_(h), …, d_(1)
        median = d[h - 1 : h]
        start = np.concatenate([[self.low], d[: h - 1], median, d[h - 1 :] + 1])
        end = np.concatenate([d[:h], median + 1, d[h:] + 1, [self.high + 1]])
        cost = np.concatenate([downward[::-1], [0.0], upward])
        held = end > start
        return Score(start[held], (end - start)[held], cost[held])

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[np.int64]:  # noqa: ARG002
        """Give the results as they are: a median needs no scaling."""
        return results

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:  # noqa: ARG002
        """Give t such that the answer lies within t ranks of the exact median with probability at least `level`.

        How far an answer is off in its own unit depends on how dense the private entries are, so no public half-width
        in that unit exists. In ranks one does. Let s(r) be the number of entries that must change before r is the
        exact median, that is (entries < r) − (h − 1) above it and (entries > r) − (k − h) below it. If s(r) ≤ t, then
        d_(h−t) ≤ r ≤ d_(h+t), with the ends of the public range where an index leaves 1, …, k.

        A candidate r costs at least S(s(r)), the sum of the s(r) smallest ε bought, and S is non-decreasing. Of the N
        = high − low + 1 candidates the exact median costs 0, so the weights sum to at least 1, and at most N − 1
        candidates have s(r) ≥ t ≥ 1. Hence P(s(R) ≥ t) ≤ (N − 1) exp(−S(t)/2). The smallest t at which the right side
        is at most 1 − level is given; where there is none, the most changes there can be, max(h, k − h + 1) = ⌊k/2⌋ +
        1.
        """
        others = float(self.high - self.low)
        most = epsilon.size // 2 + 1
        tail = others * np.exp(-0.5 * sure_costs(epsilon)[:most])
        return float(fewest_changes(tail, level))


def _given_up(kept: list[float], passed: list[float], ceiling: float) -> Floats:
    """Sum what a heap that keeps its size gives up at each entry passed; `ceiling` from where the sum reaches it."""
    heapq.heapify(kept)
    sums = accumulate(map(heapq.heappushpop, repeat(kept), passed))
    below = np.fromiter(takewhile(ceiling.__gt__, sums), dtype=np.float64)
    return np.concatenate([below, np.full(len(passed) - below.size, ceiling)])
