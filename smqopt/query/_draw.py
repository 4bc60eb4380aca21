"""An answer on its way: what is computed before the draw, and the draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.query._purchase import Purchase
from smqopt.query.queries._query import Draw, FittedQuery, PopulationQuery


@dataclass(frozen=True, eq=False)
class ReadyQuery:
    """A query with its draws ready: PRIVATE, but for query and purchase."""

    question: PopulationQuery
    """The query as it was asked."""
    asked: FittedQuery
    """The query, fitted to the purchase."""
    purchase: Purchase
    entries: NDArray[np.int64] = field(repr=False)
    """Shape (k,)."""
    draws: tuple[Draw, ...] = field(repr=False)
    """One for each independent draw."""

    def draw(self, rng: np.random.Generator | None) -> list[int]:
        """Draw the results; without `rng`, from the secure source."""
        return [one(rng) for one in self.draws]


def prepare(
    query: PopulationQuery, asked: FittedQuery, data: ArrayLike, owner_ids: Sequence[str], purchase: Purchase
) -> ReadyQuery:
    """Check the entries, and compute what the draws need. Draws nothing.

    Parameters
    ----------
    query, asked
        What is asked, and the same fitted to the purchase.
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
    entries = asked.entries(data, owner_ids)
    return ReadyQuery(query, asked, purchase, entries, asked.draws(entries, purchase.bought_epsilon))
