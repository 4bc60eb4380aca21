"""An answer on its way: all that is computed before anything is drawn, and the draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.query._purchase import Purchase
from smqopt.query.exponential._release import draw, lowered
from smqopt.query.exponential._score import Score
from smqopt.query.queries._query import AnyQuery, PopulationQuery


@dataclass(frozen=True, eq=False)
class Scored:
    """A query with the costs of its results: PRIVATE, but for query and purchase."""

    asked: AnyQuery
    """The query, fitted to the purchase."""
    purchase: Purchase
    entries: NDArray[np.int64] = field(repr=False)
    """Shape (k,)."""
    scores: tuple[Score, ...] = field(repr=False)
    """One for each independent draw."""

    def drawn(self, rng: np.random.Generator | None) -> list[int]:
        """Draw one result from each score; without a generator, from the secure source of the system."""
        return [draw(score, rng) for score in self.scores]


def scored(query: PopulationQuery, data: ArrayLike, owner_ids: Sequence[str], purchase: Purchase) -> Scored:
    """Fit a query to a purchase, check the entries, and compute the costs. Nothing is drawn.

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
    used, ceiling = lowered(asked.share * purchase.bought_epsilon, asked.rounding_of_cost)
    return Scored(asked, purchase, entries, tuple(asked.scores(entries, used, ceiling)))
