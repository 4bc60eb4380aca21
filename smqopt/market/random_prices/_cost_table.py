r"""What chances of sale cost: sums over cells, looked up by slopes.

Slopes t_1 ≤ … ≤ t_K and masses p_k are those of a menu's chords, which a rule of random prices
pays, or of tangents of C, of which no rule pays less. All sums here are Σ p, Σ p t, Σ p √t and
Σ p/√t over the cells whose slope is at most some number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats


@dataclass(frozen=True, eq=False)
class CostTable:
    """Cells of each kind of law, and which kind each row has."""

    of_row: NDArray[np.intp]
    """Shape (n,)."""
    slope: Floats
    """t, non-decreasing along rows, shape (kinds, K)."""
    reached: Floats
    """Σ p of the first k cells, shape (kinds, K+1)."""
    cost: Floats
    """Σ p t, shape (kinds, K+1)."""
    root: Floats
    """Σ p √t, shape (kinds, K+1)."""
    inverse: Floats
    """Σ p/√t, without cells of slope 0, shape (kinds, K+1)."""
    end: Floats
    """C(1) less Σ p t, shape (kinds,): paid at the least chance."""

    @classmethod
    def of(
        cls,
        of_row: NDArray[np.intp],
        slope: Floats,
        reached: Floats,
        cost: Floats | None = None,
        highest: Floats | None = None,
    ) -> CostTable:
        """Add up the cells; `reached` and `cost`, shape (kinds, K+1), are cumulated.

        `highest` is the cost at acceptance 1, shape (kinds,).
        """
        slope = np.maximum.accumulate(slope, axis=1)
        mass, t = np.diff(reached, axis=1), np.sqrt(slope)
        over = np.divide(mass, t, out=np.zeros_like(mass), where=t > 0)
        cost = _sums(mass * slope) if cost is None else cost
        end = np.zeros(slope.shape[0]) if highest is None else np.maximum(highest - cost[:, -1], 0.0)
        return cls(of_row, slope, reached, cost, _sums(mass * t), _sums(over), end)

    @property
    def cells(self) -> int:
        """K."""
        return int(self.slope.shape[1])

    def count(self, levels: Floats, key: Floats, rows: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Count for each row the cells whose key, which does not fall, is at most a level."""
        kind = self.of_row if rows is None else self.of_row[rows]
        low, high = np.zeros(kind.size, dtype=np.intp), np.full(kind.size, self.cells, dtype=np.intp)
        for _ in range(self.cells.bit_length()):
            middle = (low + high) // 2
            under = (middle < self.cells) & (key[kind, np.minimum(middle, self.cells - 1)] <= levels)
            open_ = low < high
            low, high = np.where(open_ & under, middle + 1, low), np.where(open_ & ~under, middle, high)
        return low

    def at(self, sums: Floats, k: NDArray[np.intp] | int) -> Floats:
        """Return one of the sums for each row, over its first k cells."""
        return np.asarray(sums[self.of_row, k])


def _sums(terms: Floats) -> Floats:
    return np.concatenate([np.zeros((terms.shape[0], 1)), np.cumsum(terms, axis=1)], axis=1)
