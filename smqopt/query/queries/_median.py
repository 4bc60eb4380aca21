"""The lower median."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats
from smqopt.query._entries import whole_entries
from smqopt.query._public_numbers import checked_clamp, clamp_parameter
from smqopt.query.exponential._order_statistic import ranks_off, score_of_rank
from smqopt.query.exponential._score import Score
from smqopt.query.queries._integer_range import whole_range
from smqopt.query.queries._query import Query


@final
@dataclass(frozen=True)
class Median(Query):
    """The lower median: the h-th smallest of k whole numbers, h = ⌈k/2⌉ (E12).

    Parameters
    ----------
    low, high
        The public range of the entries, whole numbers of size at most 2^53, low ≤ high. It must be
        known without looking at the data: a range taken from the bought entries would leak them
        (errata E19).
    clamp
        Whether entries out of the range are taken for the nearest end of it, instead of refused.

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
    clamp: bool = field(default=False, kw_only=True)

    name = "median"
    noise_unit = "ranks among the bought entries"
    scales_to_population = False

    def __post_init__(self) -> None:
        checked_clamp(self.name, self.clamp)
        for key, value in zip(("low", "high"), whole_range("median", self.low, self.high), strict=True):
            object.__setattr__(self, key, value)

    def parameters(self) -> dict[str, Any]:
        """Return the public range."""
        return {"low": self.low, "high": self.high, **clamp_parameter(self.clamp)}

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check that every entry is a whole number in the public range."""
        return whole_entries(
            data,
            owner_ids,
            self.low,
            self.high,
            f"must be a whole number from {self.low} to {self.high}",
            clamp=self.clamp,
        )

    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Return the cost of each candidate (`score_of_rank`)."""
        return score_of_rank(entries, epsilon, (entries.size + 1) // 2, self.low, self.high, ceiling)

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[np.int64]:  # noqa: ARG002
        """Return the results as they are: a median needs no scaling."""
        return results

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:  # noqa: ARG002
        """Return t: the answer is within t ranks with probability at least `level`."""
        return ranks_off(epsilon, (epsilon.size + 1) // 2, self.high - self.low, level)
