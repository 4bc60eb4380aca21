"""Population figures, estimated by a linear predictor with public weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError, nearest
from smqopt.numeric import Floats, exact_sum
from smqopt.query._purchase import Purchase
from smqopt.query.exponential._score import Score
from smqopt.query.queries._linear_predictor import LinearPredictor
from smqopt.query.queries._query import Query

SCALED = "scaled"
INVERSE_PROBABILITY = "inverse-probability"
WEIGHTINGS = {
    SCALED: "the paper's: what was bought stands for all, by Σ w/Σ w_c, that is n/|S_c| for equal weights (errata E8)",
    INVERSE_PROBABILITY: "w_i/F_i(θ_i*) for each bought entry (Horvitz and Thompson 1952)",
}
"""Name of a weighting → what it does."""


@final
@dataclass(frozen=True, eq=False)
class Estimate(Query):
    """A figure of the population as a linear predictor of the bought entries.

    All weights are public: w_i is, and so is the chance F_i(θ_i*) that an owner sells at her posted
    threshold. So the estimate is a weighted sum of the bought entries and nothing else, its law is
    the P-E law of a linear predictor, and its privacy is the same: ε_i for each owner bought.
    """

    name: str
    stated: dict[str, Any]
    """The parameters of the query that was asked."""
    predictor: LinearPredictor = field(repr=False)
    excluded_owners: int
    """How many owners could not have been bought, F_i(θ_i*) = 0: the estimate is silent about them.
    """
    excluded_weight: float
    """Their part of Σ |w_i|, from 0 to 1."""

    noise_unit = LinearPredictor.noise_unit
    rounding_of_cost = LinearPredictor.rounding_of_cost

    def parameters(self) -> dict[str, Any]:
        """Return what was asked, and the step of the candidates."""
        return self.stated

    def facts(self) -> dict[str, Any]:
        """Return whom the estimate leaves out, and what rounding costs."""
        return {
            "excluded_owners": self.excluded_owners,
            "excluded_weight": self.excluded_weight,
            "candidates": abs(self.predictor.grid.step * self.predictor.scale),
            "rounding": self.predictor.rounding,
        }

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check that every entry lies in the public range."""
        return self.predictor.entries(data, owner_ids)

    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Return the cost of each candidate of the linear predictor."""
        return self.predictor.score(entries, epsilon, ceiling)

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> Floats:
        """Return the estimates that results stand for."""
        return self.predictor.values(results, bought, population)

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:
        """Return the half-width of the linear predictor."""
        return self.predictor.half_width(epsilon, level, population)


def estimate(
    name: str,
    stated: dict[str, Any],
    weights: Floats,
    low: float,
    high: float,
    *,
    weighting: str,
    step: float | None,
    purchase: Purchase,
    clamp: bool = False,
) -> Estimate:
    """Estimate Σ w_i d_i over the population from what was bought.

    With inverse-probability weights the estimate is unbiased, before noise, for the sum over the
    owners with F_i(θ_i*) > 0, if F_i is the law of θ_i given her entry d_i: E Σ w_i d_i
    [i bought]/F_i = Σ_{F_i > 0} w_i d_i.

    Parameters
    ----------
    name, stated
        Of the query that was asked.
    weights
        w_i, one an owner, shape (N,).
    low, high
        The public range of entries.
    weighting
        One of `WEIGHTINGS`.
    step
        The distance of candidates for the sum of the bought entries; None takes a fine one.
    purchase
        Who could be bought and who was.
    """
    never = purchase.acceptance <= 0
    size = np.abs(weights)
    whole = exact_sum(size)
    chosen, total = weights[purchase.selected], None
    if weighting == INVERSE_PROBABILITY:
        chosen = chosen / purchase.bought_acceptance
    else:
        total = exact_sum(weights)
    predictor = LinearPredictor(chosen, low, high, total_weight=total, step=step, clamp=clamp).asked_of(purchase)
    return Estimate(
        name=name,
        stated=stated,
        predictor=predictor,
        excluded_owners=int(np.count_nonzero(never)),
        excluded_weight=exact_sum(size[never]) / whole if whole > 0 else 0.0,
    )


def checked_weighting(query: str, weighting: str) -> str:
    """Check the name of a weighting.

    Raises
    ------
    InputError
        Naming the query, if it is not known.
    """
    if not isinstance(weighting, str) or weighting not in WEIGHTINGS:
        raise InputError(
            f"{query}: argument 'weighting'",
            "is not known",
            value=weighting,
            remedy=nearest(str(weighting), WEIGHTINGS),
        )
    return weighting
