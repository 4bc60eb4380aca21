"""What is public of a purchase: all that a query may be fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smqopt.market import WorstCaseError
from smqopt.mechanism import Outcome
from smqopt.numeric import Floats
from smqopt.query.ledger._shares import part_of


@dataclass(frozen=True, eq=False)
class InverseWeights:
    """Weights by the chance of sale, one an owner (N owners).

    The estimate of Σ w x is Σ w · middle + b/R (Σ_S a (x − middle) + Laplace(R)).
    """

    weight: Floats
    """w_i, shape (N,)."""
    loss: Floats
    """a_i = s_i |w_i| R/(Q_i b) of who was bought, 0 of others, shape (N,). Private, as Q is."""
    scale: float
    """b/R; 0 where the purchase was not made to keep requirements."""

    @classmethod
    def of(cls, outcome: Outcome) -> InverseWeights | None:
        """Take them from an outcome, if it was bought at random prices."""
        solution, objective = outcome.certificate.solution, outcome.certificate.solution.objective
        if solution.random_prices is None or outcome.chance is None or not isinstance(objective, WorstCaseError):
            return None
        rows = outcome.rows
        signed = objective.signed_weights(solution.market)[rows]
        scale = solution.random_prices.noise_scale / objective.range
        shrinkage = solution.random_prices.on(solution.market, objective).shrinkage[rows]
        chance = np.where(outcome.selected, outcome.chance, np.inf)
        return cls(signed, shrinkage * np.abs(signed) / chance / (scale or 1.0), scale)

    def at(self, share: float) -> InverseWeights:
        """Return the weights for a share of every requirement, with more noise."""
        return InverseWeights(self.weight, self.loss * share, self.scale / share)

    def of_owners(self, chosen: NDArray[np.bool_]) -> InverseWeights:
        """Return those of some owners."""
        return InverseWeights(self.weight[chosen], self.loss[chosen], self.scale)


@dataclass(frozen=True, eq=False)
class Purchase:
    """Who could be bought and who was, one entry an owner (N owners). Public."""

    selected: NDArray[np.bool_]
    """Who was bought, shape (N,)."""
    epsilon: Floats
    """Requirements ε_i, shape (N,)."""
    acceptance: Floats
    """F_i(θ_i*), the probability that the owner sells, over the draw of her threshold where it is
    drawn; shape (N,)."""
    inverse: InverseWeights | None = None
    """Weights of entries bought at random prices; None where prices were posted."""

    @property
    def population(self) -> int:
        """The number N of owners who took part."""
        return self.selected.size

    @property
    def bought(self) -> int:
        """The number k = |S_c| of owners bought."""
        return int(np.count_nonzero(self.selected))

    @property
    def bought_epsilon(self) -> Floats:
        """The requirements of the owners bought, shape (k,)."""
        return self.epsilon[self.selected]

    @property
    def bought_acceptance(self) -> Floats:
        """The acceptance of the owners bought, shape (k,)."""
        return self.acceptance[self.selected]

    @classmethod
    def of(cls, outcome: Outcome) -> Purchase:
        """Take what is public from an outcome."""
        return cls(outcome.selected, outcome.epsilon, outcome.acceptance, InverseWeights.of(outcome))

    def at(self, share: Fraction) -> Purchase:
        """Return the purchase with a share of every requirement, rounded down."""
        inverse = None if self.inverse is None else self.inverse.at(float(share))
        return Purchase(self.selected, part_of(self.epsilon, share), self.acceptance, inverse)

    def of_owners(self, chosen: NDArray[np.bool_]) -> Purchase:
        """Return the part that concerns some owners, by a mask of shape (N,)."""
        inverse = None if self.inverse is None else self.inverse.of_owners(chosen)
        return Purchase(self.selected[chosen], self.epsilon[chosen], self.acceptance[chosen], inverse)
