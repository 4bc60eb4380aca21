"""What every query says: its possible results, and the cost of each."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats
from smqopt.query._purchase import Purchase
from smqopt.query.exponential._exponential_law import VANISHED, pe_law
from smqopt.query.exponential._release import GRID, draw, lower_to_grid
from smqopt.query.exponential._score import Score
from smqopt.query.linear._linear_form import LinearForm

Value = int | float | tuple[float, ...]
"""An answer: a number, or one number a bin."""
Draw = Callable[[np.random.Generator | None], int]
"""Draws one result; without a generator from the secure source."""


class PopulationQuery(abc.ABC):
    """A question about a market's owners, fitted once it is known who sold."""

    name: str
    """The name by which model files and answers call the query."""

    @abc.abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the public parameters by name, fit for JSON, to make it again."""

    @abc.abstractmethod
    def asked_of(self, purchase: Purchase) -> AnyQuery:
        """Return the query fitted to what is public of a purchase, for P-E."""

    def linear_form(self, population: int) -> LinearForm | None:  # noqa: ARG002 -- most queries have none
        """Return what the linear release needs, or None where there is none."""
        return None


class FittedQuery(abc.ABC):
    """A query over k bought entries, ready for one or several draws."""

    name: str
    noise_unit: str
    """The unit of `half_width`, in words."""
    scales_to_population: bool = True
    """Whether a result is scaled by who was bought, so that the answer's digits tell of them."""

    @property
    def figures(self) -> int:
        """How many numbers an answer holds."""
        return 1

    @abc.abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the public parameters of what was asked."""

    @abc.abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what follows from parameters and purchase, fit for JSON. Public."""

    @abc.abstractmethod
    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check k private entries, one an owner; refuse without showing any."""

    @abc.abstractmethod
    def draws(self, entries: NDArray[np.int64], epsilon: Floats) -> tuple[Draw, ...]:
        """Return what draws each result, computed beforehand. PRIVATE."""

    @abc.abstractmethod
    def laws(
        self, entries: NDArray[np.int64], epsilon: Floats, bought: int, population: int
    ) -> tuple[tuple[NDArray[Any], Floats], ...]:
        """Return the values of each draw and their probabilities. PRIVATE."""

    @abc.abstractmethod
    def value(self, results: Sequence[int], bought: int, population: int) -> Value:
        """Return the population's answer that one result a draw stands for."""

    @abc.abstractmethod
    def half_width(self, epsilon: Floats, level: float, population: int) -> float:
        """Return a bound on the noise that holds with probability `level` or more.

        Parameters
        ----------
        epsilon
            The requirements of the bought entries, uncut, shape (k,), k ≥ 1.
        level
            In (0, 1).
        population
            The number of owners in the market.
        """

    @abc.abstractmethod
    def worst_losses(self, epsilon: Floats) -> Floats:
        """Bound the privacy loss of each owner bought, ≤ ε_i, by theorem; shape (k,)."""


class AnyQuery(PopulationQuery, FittedQuery):
    """A query over k bought entries, answered by the P-E mechanism."""

    rounding_of_cost: float = 0.0
    """How far a cost below 2^8 may be off from one that moves by at most ε_i, requirements being
    multiples of 2^−45."""
    share: float = 1.0
    """The part of each requirement at which every draw runs. An entry may reach 1/share of the
    draws."""

    def asked_of(self, purchase: Purchase) -> AnyQuery:  # noqa: ARG002 -- most queries need nothing of it
        """Return the query itself, if it needs nothing of the purchase."""
        return self

    def facts(self) -> dict[str, Any]:
        """Return what follows from parameters and purchase, fit for JSON. Public."""
        return {}

    @abc.abstractmethod
    def scores(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> tuple[Score, ...]:
        """Return the costs of each draw's results; arguments as for `Query.score`.

        Requirements are already cut to `share`.
        """

    @abc.abstractmethod
    def draw_values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[Any]:
        """Return what results of one draw stand for in the population, one a row."""

    def draws(self, entries: NDArray[np.int64], epsilon: Floats) -> tuple[Draw, ...]:
        """Return a draw by whole-number weights for each score."""
        used, ceiling = lower_to_grid(self.share * epsilon, self.rounding_of_cost)
        return tuple(partial(draw, score) for score in self.scores(entries, used, ceiling))

    def laws(
        self, entries: NDArray[np.int64], epsilon: Floats, bought: int, population: int
    ) -> tuple[tuple[NDArray[Any], Floats], ...]:
        """Return the P-E law of each draw."""
        laws = []
        for score in self.scores(entries, np.minimum(self.share * epsilon, VANISHED), VANISHED):
            possible = score.without_ends(VANISHED)
            laws.append((self.draw_values(possible.results, bought, population), pe_law(possible)))
        return tuple(laws)

    def worst_losses(self, epsilon: Floats) -> Floats:
        """Bound the losses, as `smqopt.query.exponential._release` proves."""
        used, _ = lower_to_grid(self.share * epsilon, self.rounding_of_cost)
        one_draw = np.where(used > 0, used + 2.0 * self.rounding_of_cost + 1.0 / GRID, 0.0)
        return one_draw / self.share


class Query(AnyQuery):
    """A query with integer results, answered by one draw.

    A new query gives `name`, `noise_unit` and the abstract pieces, and overrides nothing else. The
    privacy of its answers rests on `score` alone: its set of results must not depend on the data,
    and each cost must move by at most ε_i when entry i changes. `smqopt.audit_query` checks both,
    exactly, on small cases.
    """

    @abc.abstractmethod
    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Return the cost of each result.

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
        """Return the population's answers that results stand for, one a row."""

    def scores(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> tuple[Score, ...]:
        """Return the one score."""
        return (self.score(entries, epsilon, ceiling),)

    def draw_values(self, results: NDArray[np.int64], bought: int, population: int) -> NDArray[Any]:
        """Return `values`."""
        return self.values(results, bought, population)

    def value(self, results: Sequence[int], bought: int, population: int) -> Value:
        """Return the answer that the one result stands for."""
        found = self.values(np.array(results), bought, population)[0]
        value: Value = tuple(found.tolist()) if np.ndim(found) else found.item()
        return value
