"""Lotteries: an owner's threshold is drawn before her report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.valuation import FlatPieces

_LAST_BIT = 2.0**-53
"""Numbers that a generator draws from [0, 1) are multiples of this."""
_SMALL = 2.0**-20
"""Probabilities that such a multiple might miss by more than a share of 2⁻³³."""


@dataclass(frozen=True, eq=False)
class Lottery:
    """Posted prices and their probabilities, for each of D owners who draw.

    Whichever threshold is drawn does not depend on the report, so truth stays dominant; the budget
    holds in expectation over the draw too. All have K ≥ 2 columns; who draws between fewer prices
    has her highest one again, with probability 0. Probabilities are exact as they stand but for
    each owner's largest, which is what the others leave of 1: so small ones keep their digits.
    """

    owner: NDArray[np.intp]
    """Rows of the market, from 0, increasing; shape (D,)."""
    prices: Floats
    """Shape (D, K), in currency, increasing along each row; one with acceptance 0 is no offer."""
    acceptances: Floats
    """F of each price; shape (D, K)."""
    probabilities: Floats
    """Shape (D, K); each row sums to 1."""

    @classmethod
    def between(
        cls,
        owner: NDArray[np.intp],
        low: Floats,
        high: Floats,
        low_acceptance: Floats,
        high_acceptance: Floats,
        probability_of_high: Floats,
    ) -> Lottery:
        """Draw between two prices; arrays of shape (D,)."""
        p = np.asarray(probability_of_high, dtype=np.float64)
        columns = ((low, high), (low_acceptance, high_acceptance), (1.0 - p, p))
        return cls(owner, *(np.column_stack(both).astype(np.float64) for both in columns))

    @classmethod
    def from_pieces(cls, pieces: FlatPieces, probability_of_high: Floats) -> Lottery:
        """Draw between the ends of flat pieces."""
        columns = (pieces.low, pieces.high, pieces.low_acceptance, pieces.high_acceptance)
        return cls.between(pieces.owner, *columns, probability_of_high)

    def take(self, places: NDArray[np.intp], owner: NDArray[np.intp]) -> Lottery:
        """Return the lotteries at some places, as those of other owners."""
        return Lottery(owner, self.prices[places], self.acceptances[places], self.probabilities[places])

    def draw(self, places: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
        """Return which price is drawn at some places.

        Prices below the likeliest one are drawn by a number u uniform on [0, 1), those above by
        1 − u. Where a probability is small, u has 106 bits, so that it is not rounded to 2⁻⁵³.
        """
        shares, rest = self.probabilities[places], self.likeliest[places]
        u = rng.random(places.size)
        fine = rng.random(places.size) if np.any((shares > 0) & (shares < _SMALL)) else np.zeros(places.size)
        column, last = np.arange(shares.shape[1]), shares.shape[1] - 1
        before, after = column < rest[:, np.newaxis], column > rest[:, np.newaxis]
        from_below = np.cumsum(np.where(before, shares, 0.0), axis=1)
        from_above = np.cumsum(np.where(after, shares, 0.0)[:, ::-1], axis=1)[:, ::-1]
        low = u + fine * _LAST_BIT
        high = (1.0 - u) - fine * _LAST_BIT
        passed_below = np.sum(before & (from_below <= low[:, np.newaxis]), axis=1)
        passed_above = np.sum(after & (from_above < high[:, np.newaxis]), axis=1)
        drawn = np.where(passed_below < rest, passed_below, rest)
        return np.asarray(np.where(passed_above < last - rest, last - passed_above, drawn), dtype=np.intp)

    @property
    def likeliest(self) -> NDArray[np.intp]:
        """The column of the price whose probability is what the others leave; shape (D,)."""
        return np.asarray(np.argmax(self.probabilities, axis=1), dtype=np.intp)

    def __len__(self) -> int:
        return int(self.owner.size)

    @property
    def low(self) -> Floats:
        """The lowest price, shape (D,), in currency; no offer where its acceptance is 0."""
        return self.prices[:, 0]

    @property
    def high(self) -> Floats:
        """The highest price, shape (D,), in currency."""
        return self.prices[:, -1]

    @property
    def low_acceptance(self) -> Floats:
        """F of the lowest price, shape (D,)."""
        return self.acceptances[:, 0]

    @property
    def high_acceptance(self) -> Floats:
        """F of the highest price, shape (D,)."""
        return self.acceptances[:, -1]

    @property
    def probability_of_low(self) -> Floats:
        """The probability of the lowest price, shape (D,)."""
        return self.probabilities[:, 0]

    @property
    def probability_of_high(self) -> Floats:
        """The probability of the highest price, shape (D,)."""
        return self.probabilities[:, -1]

    @property
    def acceptance(self) -> Floats:
        """Expected acceptance, for each owner in the lottery."""
        return np.minimum(_sum(self.probabilities * self.acceptances), 1.0)

    @property
    def spend(self) -> Floats:
        """Expected payment, for each owner in the lottery, in currency."""
        return _sum(self.probabilities * (self.prices * self.acceptances))


def _sum(columns: Floats) -> Floats:
    """Add up columns from left to right, so that two are added as two numbers."""
    total: Floats = columns[:, 0].copy()
    for k in range(1, columns.shape[1]):
        total += columns[:, k]
    return total
