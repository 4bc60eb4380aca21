"""Any quantile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.query._entries import whole_entries
from smqopt.query._public_numbers import checked_clamp, clamp_parameter
from smqopt.query.exponential._order_statistic import ranks_off, score_of_rank
from smqopt.query.exponential._score import Score
from smqopt.query.queries._integer_range import whole_range
from smqopt.query.queries._query import Query


@final
@dataclass(frozen=True)
class Quantile(Query):
    """The p-quantile of whole numbers: the h-th smallest of k, h = ⌈pk⌉.

    Parameters
    ----------
    p
        In (0, 1], taken as the decimal number that is written: 0.1 is a tenth. ½ is the lower
        median.
    low, high
        The public range of the entries, whole numbers of size at most 2^53, low ≤ high.
    clamp
        As for `Median`.

    Raises
    ------
    InputError
        If p is not in (0, 1], or the range is not one.

    Examples
    --------
    >>> score = Quantile(0.9, 1, 4).score(np.array([2, 3, 4]), np.array([0.25, 0.5, 1.0]))
    >>> np.repeat(score.cost, score.length).tolist()
    [1.75, 1.5, 1.0, 0.0]
    """

    p: float
    low: int
    high: int
    clamp: bool = field(default=False, kw_only=True)

    name = "quantile"
    noise_unit = "ranks among the bought entries"
    scales_to_population = False

    def __post_init__(self) -> None:
        checked_clamp(self.name, self.clamp)
        known = isinstance(self.p, (int, float, np.integer, np.floating)) and not isinstance(self.p, bool)
        if not known or not 0 < self.p <= 1:
            raise InputError(
                "quantile: argument 'p'", "must be a number in (0, 1]", value=self.p, remedy="give, say, 0.9"
            )
        object.__setattr__(self, "p", float(self.p))
        for key, value in zip(("low", "high"), whole_range("quantile", self.low, self.high), strict=True):
            object.__setattr__(self, key, value)

    def rank(self, bought: int) -> int:
        """Return h = ⌈pk⌉ for k bought entries."""
        return math.ceil(Fraction(repr(self.p)) * bought)

    def parameters(self) -> dict[str, Any]:
        """Return p and the public range."""
        return {"p": self.p, "low": self.low, "high": self.high, **clamp_parameter(self.clamp)}

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
        return score_of_rank(entries, epsilon, self.rank(entries.size), self.low, self.high, ceiling)

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[np.int64]:  # noqa: ARG002
        """Return the results as they are: a quantile needs no scaling."""
        return results

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:  # noqa: ARG002
        """Return t: the answer is within t ranks with probability at least `level`."""
        return ranks_off(epsilon, self.rank(epsilon.size), self.high - self.low, level)
