"""The flat pieces of the convex hull of C(q) = q F⁻¹(q).

Where posted prices are dearer than lotteries between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Index


@dataclass(frozen=True)
class FlatPieces:
    """Pieces on which hulls are straight, by owner and acceptance; columns.

    Between its ends the hull is the chord: a lottery between the two thresholds buys acceptance at
    the price `slope` a unit, less than any single threshold does. A piece that starts at acceptance
    0 is a lottery between no offer and a threshold.
    """

    owner: NDArray[np.intp]
    """Whose piece it is, from 0; all 0 for a common law."""
    low: Floats
    """The threshold at the lower end, in currency."""
    high: Floats
    """The threshold at the upper end, in currency."""
    low_acceptance: Floats
    high_acceptance: Floats
    slope: Floats
    """The ironed virtual cost on the piece, in currency."""

    @classmethod
    def none(cls) -> FlatPieces:
        """No piece: the hull is C itself."""
        return cls(np.empty(0, dtype=np.intp), *(np.empty(0) for _ in range(5)))

    @staticmethod
    def columns() -> tuple[str, ...]:
        """Return the names of the arrays beside `owner`."""
        return ("low", "high", "low_acceptance", "high_acceptance", "slope")

    def join(self, other: FlatPieces) -> FlatPieces:
        """Return the pieces of both, in order of owner and then of acceptance."""
        columns = [np.concatenate([getattr(self, k), getattr(other, k)]) for k in ("owner", *self.columns())]
        order = np.lexsort((columns[3], columns[0]))
        return FlatPieces(*(column[order] for column in columns))

    def __len__(self) -> int:
        return int(self.slope.size)

    def take(self, index: Index, size: int) -> FlatPieces:
        """Return the pieces of the owners at `index`, renumbered in its order."""
        owner, pieces = rows_of(self.owner, np.arange(size, dtype=np.intp)[index])
        return FlatPieces(owner, *(getattr(self, name)[pieces] for name in self.columns()))


def rows_of(owner: NDArray[np.intp], chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of chosen owners, and each row's place among them.

    Examples
    --------
    >>> rows_of(np.array([0, 0, 2]), np.array([2, 0]))
    (array([0, 1, 1]), array([2, 0, 1]))
    """
    first = np.searchsorted(owner, chosen, side="left")
    count = np.searchsorted(owner, chosen, side="right") - first
    rows = np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(int(count.sum()))
    return np.repeat(np.arange(chosen.size, dtype=np.intp), count), rows
