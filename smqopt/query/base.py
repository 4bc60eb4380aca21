"""What every query answers: which results it can have, and what it costs to move to each."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.query.purchase import Purchase
from smqopt.query.score import Score

__all__ = ["Query"]

Floats = NDArray[np.float64]


class Query(abc.ABC):
    """A query with integer results over k bought entries.

    A new query gives the pieces below and overrides nothing else. The privacy of its answers rests on `score` alone:
    its set of results must not depend on the data, and each cost must move by at most ε_i when entry i changes.
    `smqopt.query.audit` checks both, exactly, on small cases.
    """

    name: ClassVar[str]
    """The name by which model files and answers call the query."""
    noise_unit: ClassVar[str]
    """The unit of `half_width`, in words."""

    rounding_of_cost: ClassVar[float] = 0.0
    """How far a cost below 2^8 may be off from one that moves by at most ε_i, requirements being multiples of 2^−45."""

    def asked_of(self, purchase: Purchase) -> Query:  # noqa: ARG002 -- most queries need nothing of it
        """Give the query fitted to what is public of a purchase, before any entry is seen."""
        return self

    @abc.abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Give the public parameters by name, fit for JSON."""

    @abc.abstractmethod
    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check k private entries, one for each of the owners named; refuse without showing any entry."""

    @abc.abstractmethod
    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Give the cost of each result.

        Parameters
        ----------
        entries, epsilon
            Checked entries and requirements, shape (k,), k ≥ 1.
        ceiling
            Costs from here on are given as `ceiling`. Costs below are sums of non-negative terms, so that they are
            exact whenever the requirements are multiples of a power of two that leaves them representable.
        """

    @abc.abstractmethod
    def values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[Any]:
        """Give the answers for the population that results for the bought entries stand for."""

    @abc.abstractmethod
    def half_width(self, epsilon: Floats, level: float, population: int) -> float:
        """Give a bound on the noise, in `noise_unit`, that holds with probability `level` or more; from public data.

        Parameters
        ----------
        epsilon
            The requirements of the bought entries, shape (k,), k ≥ 1.
        level
            In (0, 1).
        population
            The number of owners in the market.
        """
