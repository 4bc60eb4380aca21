"""An answer on its way: what is computed before the draw, and the draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.query._purchase import Purchase
from smqopt.query.exponential._release import draw, lower_to_grid
from smqopt.query.exponential._score import Score
from smqopt.query.queries._query import AnyQuery, PopulationQuery


@dataclass(frozen=True, eq=False)
class ScoredQuery:
    """A query with the costs of its results: PRIVATE, but for query and purchase."""

    question: PopulationQuery
    """The query as it was asked."""
    asked: AnyQuery
    """The query, fitted to the purchase."""
    purchase: Purchase
    entries: NDArray[np.int64] = field(repr=False)
    """Shape (k,)."""
    scores: tuple[Score, ...] = field(repr=False)
    """One for each independent draw."""

    def draw(self, rng: np.random.Generator | None) -> list[int]:
        """Draw one result from each score; without `rng`, from the secure source."""
        return [draw(score, rng) for score in self.scores]


def score_query(query: PopulationQuery, data: ArrayLike, owner_ids: Sequence[str], purchase: Purchase) -> ScoredQuery:
    """Fit a query, check the entries, and compute the costs. Draws nothing.

    Parameters
    ----------
    query
        What is asked.
    data
        The bought entries, shape (k,). Private.
    owner_ids
        Whose they are, k names.
    purchase
        Who was bought, with what may be spent of each requirement.

    Raises
    ------
    InputError
        If the number of entries is not k, or an entry is not what the query takes; no error shows
        an entry.
    """
    asked = query.asked_of(purchase)
    entries = asked.entries(data, owner_ids)
    used, ceiling = lower_to_grid(asked.share * purchase.bought_epsilon, asked.rounding_of_cost)
    return ScoredQuery(query, asked, purchase, entries, tuple(asked.scores(entries, used, ceiling)))
