"""Lotteries: an owner's threshold is drawn before her report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.valuation import FlatPieces


@dataclass(frozen=True, eq=False)
class Lottery:
    """Two thresholds and a probability for each owner on a flat piece of her hull.

    Arrays of one length.

    Whichever threshold is drawn does not depend on the report, so truth stays dominant; the budget
    holds in expectation over the draw too.
    """

    owner: NDArray[np.intp]
    """Rows of the market, from 0, increasing."""
    low: Floats
    """The lower threshold, in currency; no offer where its acceptance is 0."""
    high: Floats
    """The higher threshold, in currency."""
    low_acceptance: Floats
    high_acceptance: Floats
    probability_of_low: Floats

    @classmethod
    def from_pieces(cls, pieces: FlatPieces, probability_of_low: Floats) -> Lottery:
        """Draw between the ends of flat pieces."""
        columns = (pieces.low, pieces.high, pieces.low_acceptance, pieces.high_acceptance)
        return cls(pieces.owner, *columns, probability_of_low)

    def __len__(self) -> int:
        return int(self.owner.size)

    @property
    def acceptance(self) -> Floats:
        """Expected acceptance, for each owner in the lottery."""
        p = self.probability_of_low
        return p * self.low_acceptance + (1.0 - p) * self.high_acceptance

    @property
    def spend(self) -> Floats:
        """Expected payment, for each owner in the lottery, in currency."""
        p = self.probability_of_low
        return p * (self.low * self.low_acceptance) + (1.0 - p) * (self.high * self.high_acceptance)
