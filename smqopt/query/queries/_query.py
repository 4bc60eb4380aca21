"""What every query gives: which results it can have, and what it costs to move to each."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats
from smqopt.query._purchase import Purchase
from smqopt.query.exponential._score import Score

Value = int | float | tuple[float, ...]
"""An answer: a number, or one number a bin."""


class PopulationQuery(abc.ABC):
    """What may be asked about the owners of a market: a query as soon as it is known who was bought."""

    name: str
    """The name by which model files and answers call the query."""

    @abc.abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Give the public parameters by name, fit for JSON: from them the query can be made again."""

    @abc.abstractmethod
    def asked_of(self, purchase: Purchase) -> AnyQuery:
        """Give the query fitted to what is public of a purchase, before any entry is seen."""


class AnyQuery(PopulationQuery):
    """A query over k bought entries, answered by one draw or by several independent ones."""

    noise_unit: str
    """The unit of `half_width`, in words."""
    rounding_of_cost: float = 0.0
    """How far a cost below 2^8 may be off from one that moves by at most ε_i, requirements being
    multiples of 2^−45."""
    share: float = 1.0
    """The part of each requirement at which every draw runs. An entry may reach 1/share of the
    draws."""

    def asked_of(self, purchase: Purchase) -> AnyQuery:  # noqa: ARG002 -- most queries need nothing of it
        """Give the query itself, if it needs nothing of the purchase."""
        return self

    def facts(self) -> dict[str, Any]:
        """Give what follows from the parameters and the purchase and belongs beside an answer, fit for JSON. Public."""
        return {}

    @abc.abstractmethod
    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check k private entries, one for each of the owners named; refuse without showing any entry."""

    @abc.abstractmethod
    def scores(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> tuple[Score, ...]:
        """Give the costs of the results of each draw; arguments as for `Query.score`, requirements already cut to `share`."""

    @abc.abstractmethod
    def draw_values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[Any]:
        """Give what results of one draw stand for in the population, one a row."""

    @abc.abstractmethod
    def value(self, results: Sequence[int], bought: int, population: int) -> Value:
        """Give the answer for the population that one result a draw stands for."""

    @abc.abstractmethod
    def half_width(self, epsilon: Floats, level: float, population: int) -> float:
        """Give a bound on the noise, in `noise_unit`, that holds with probability `level` or more; from public data.

        Parameters
        ----------
        epsilon
            The requirements of the bought entries, uncut, shape (k,), k ≥ 1.
        level
            In (0, 1).
        population
            The number of owners in the market.
        """


class Query(AnyQuery):
    """A query with integer results, answered by one draw.

    A new query gives `name`, `noise_unit` and the abstract pieces, and overrides nothing else. The
    privacy of its answers rests on `score` alone: its set of results must not depend on the data,
    and each cost must move by at most ε_i when entry i changes. `smqopt.audit_query` checks both,
    exactly, on small cases.
    """

    @abc.abstractmethod
    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Give the cost of each result.

        Parameters
        ----------
        entries, epsilon
            Checked entries and requirements, shape (k,), k ≥ 1.
        ceiling
            Costs from here on are given as `ceiling`. Costs below are sums of non-negative terms,
            so that they are exact whenever the requirements are multiples of a power of two that
            leaves them representable; else `rounding_of_cost` says by how much they are off.
        """

    @abc.abstractmethod
    def values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[Any]:
        """Give the answers for the population that results for the bought entries stand for, one a row."""

    def scores(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> tuple[Score, ...]:
        """Give the one score."""
        return (self.score(entries, epsilon, ceiling),)

    def draw_values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[Any]:
        """Give `values`."""
        return self.values(results, bought, population)

    def value(self, results: Sequence[int], bought: int, population: int) -> Value:
        """Give the answer that the one result stands for."""
        found = self.values(np.array(results), bought, population)[0]
        value: Value = tuple(found.tolist()) if np.ndim(found) else found.item()
        return value
