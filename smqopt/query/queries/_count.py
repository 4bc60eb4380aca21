"""How many owners have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats
from smqopt.query._entries import whole_entries
from smqopt.query._purchase import Purchase
from smqopt.query.error._estimate import SCALED, checked_weighting, estimate
from smqopt.query.exponential._noise import fewest_changes, sure_costs
from smqopt.query.exponential._score import Score
from smqopt.query.linear._linear_form import LinearForm
from smqopt.query.queries._query import Query


@final
@dataclass(frozen=True)
class Count(Query):
    """The number of owners whose entry is 1, scaled by n/k (errata E8).

    Entries are 0 or 1 (False or True). Results of the bought entries are r = 0, …, k.

    Parameters
    ----------
    weighting
        "scaled", by n/k; or "inverse-probability", which counts each bought owner 1/F_i(θ_i*)
        times: a linear predictor, unbiased before noise over the owners who could be bought.

    Raises
    ------
    InputError
        If the weighting is not known.

    Examples
    --------
    >>> score = Count().score(np.array([1, 0, 0]), np.array([0.25, 0.5, 1.0]))
    >>> score.cost.tolist()
    [0.25, 0.0, 0.5, 1.5]
    """

    weighting: str = field(default=SCALED, kw_only=True)

    name = "count"
    noise_unit = "owners of the population"

    def __post_init__(self) -> None:
        checked_weighting(self.name, self.weighting)

    def asked_of(self, purchase: Purchase) -> Query:
        """Return the count itself, or the linear predictor that estimates it."""
        if self.weighting == SCALED:
            return self
        return estimate(
            self.name,
            self.parameters(),
            np.ones(purchase.population),
            0.0,
            1.0,
            weighting=self.weighting,
            step=None,
            purchase=purchase,
        )

    def parameters(self) -> dict[str, Any]:
        """Return the weighting, where it is not the paper's."""
        return {} if self.weighting == SCALED else {"weighting": self.weighting}

    def linear_form(self, population: int) -> LinearForm | None:
        """Return ones as weights, where every owner counts alike."""
        if self.weighting != SCALED:
            return None
        return LinearForm(np.ones(population), 0.0, 1.0, self.entries, whole=True)

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check that every entry is 0 or 1."""
        return whole_entries(data, owner_ids, 0, 1, "must be 0 or 1")

    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Return the cost of each result.

        From c ones to r: the |r − c| smallest ε on the side that must flip.
        """
        ones = entries == 1
        down = np.cumsum(np.sort(epsilon[ones]))  # to c − 1, c − 2, …, 0
        up = np.cumsum(np.sort(epsilon[~ones]))  # to c + 1, c + 2, …, k
        cost = np.concatenate([down[::-1], [0.0], up])
        results = np.arange(cost.size, dtype=np.int64)
        return Score(results, np.ones_like(results), np.minimum(cost, ceiling))

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> Floats:
        """Return r n/k, rounded once."""
        return results * population / bought

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:
        """Return t n/k: |r − c| ≤ t with probability at least `level`.

        A result at distance s from the exact count c costs at least S(s), the sum of the s smallest
        ε bought, and there are at most two of them. The exact count costs 0, so the weights sum to
        at least 1, and P(|r − c| ≥ t) ≤ 2 Σ_{s ≥ t} exp(−S(s)/2). The smallest t ≤ k at which the
        right side is at most 1 − level is given, where |r − c| is even below t; where there is
        none, as when all ε are 0, the whole range k.
        """
        weights = np.exp(-0.5 * sure_costs(epsilon))
        return fewest_changes(2.0 * np.cumsum(weights[::-1])[::-1], level) * population / epsilon.size
