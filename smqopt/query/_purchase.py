"""What is public of a purchase: all that a query may be fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smqopt.mechanism import Outcome
from smqopt.numeric import Floats
from smqopt.query.ledger._shares import part_of


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
        return cls(outcome.selected, outcome.epsilon, outcome.acceptance)

    def at(self, share: Fraction) -> Purchase:
        """Return the purchase with a share of every requirement, rounded down."""
        return Purchase(self.selected, part_of(self.epsilon, share), self.acceptance)

    def of_owners(self, chosen: NDArray[np.bool_]) -> Purchase:
        """Return the part that concerns some owners, by a mask of shape (N,)."""
        return Purchase(self.selected[chosen], self.epsilon[chosen], self.acceptance[chosen])
