"""What all markets of one data set and correlation share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Integers
from smqopt.paper.baselines._fair_inner_product import dominant_owner
from smqopt.paper.baselines._posted_prices import Offer, marginal_offer
from smqopt.paper.baselines._price_table import PriceTable, price_table
from smqopt.paper.data_sets._population import Population
from smqopt.paper.experiments._grid import budget_of


@dataclass(frozen=True, eq=False)
class Setting:
    """What all markets of one data set and correlation share."""

    population: Population
    correlation: float
    shares: tuple[float, ...]
    """Budgets, B/(θ̄ n)."""
    table: PriceTable | None
    """Prices given ε, where 0 < |ρ| < 1."""
    weight: Floats
    """Of the owners of the linear predictor, which are all but the new individual; shape (n − 1,).
    """
    target: Integers
    """Their entries, shape (n − 1,)."""
    printed_linear: tuple[Offer, ...]
    """SMQ as printed for the linear predictor, by budget: ε_i ∝ w_i, so its thresholds are the same
    in all markets."""
    dominant: int | None
    """Who outweighs all others in the linear predictor."""

    @classmethod
    def of(cls, population: Population, correlation: float, shares: tuple[float, ...]) -> Setting:
        """Prepare a setting."""
        at = population.newcomer
        weight, target = np.delete(population.weight, at), np.delete(population.target, at)
        table = price_table(correlation) if 0.0 < abs(correlation) < 1.0 else None
        offers = tuple(marginal_offer(weight, budget_of(share, weight.size)) for share in shares)
        return cls(population, correlation, shares, table, weight, target, offers, dominant_owner(weight))

    def without_newcomer(self, column: NDArray[Any]) -> NDArray[Any]:
        """Leave the new individual out of a column of shape (n,)."""
        at = self.population.newcomer
        return np.concatenate([column[:at], column[at + 1 :]])
