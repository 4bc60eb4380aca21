r"""Thresholds for many markets drawn from one Gaussian copula (errata E4).

A market of 32,561 such laws takes a second to solve, and the experiments hold 15,000. So a table is
made once and shared by all of them:

- (0, 1) is cut into equal cells. An owner is offered the price that OP2 has for the middle of her
  cell of ε: one price a cell is a posted-price rule like any other, truthful and individually
  rational.
- For budget prices λ on a fine grid, log λ in equal steps, the table holds the thresholds of all
  cells, on the hull of the cost curve where a law is irregular (errata E5).
- A market counts its owners by cell, so that its spend at each λ of the grid is a dot product.
  Between the two neighbours that enclose the budget, thresholds are mixed linearly, so that Σ θ F(θ
  | middle of the cell) over the owners is B to within `PRICE_TABLE`.

What this costs against the optimum is small and measured: `experiments.table_check` compares it
with the certified solution.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from smqopt.numeric import PRICE_TABLE, Floats
from smqopt.paper.baselines._posted_prices import Offer
from smqopt.valuation import GaussianCopula, Uniform

CELLS = 2048
STEP = 0.01
"""Of log λ."""
_FIRST = int(np.log(4.0) / STEP)
"""The price from which a search starts: λ = 1/4."""
_FARTHEST = int(60.0 / STEP)
"""A price this low buys everybody, as far as doubles can tell."""
_HALVINGS = 60


class PriceTable:
    """Thresholds by cell of ε and budget price.

    Parameters
    ----------
    correlation
        ρ, with 0 < |ρ| < 1.
    cells
        How many cells.
    """

    def __init__(self, correlation: float, cells: int = CELLS) -> None:
        self.cells = cells
        self.middle = (np.arange(cells) + 0.5) / cells
        self._law = GaussianCopula(Uniform(0, 1), Uniform(0, 1), correlation).given(self.middle)
        self._at: Callable[[int], tuple[Floats, Floats]] = lru_cache(maxsize=1024)(self._row)

    def offer(self, epsilon: Floats, budget: float) -> Offer:
        """Return every owner the threshold of her cell.

        Parameters
        ----------
        epsilon
            Announced requirements in [0, 1], shape (n,).
        budget
            B; from n on everybody is offered θ̄ = 1.
        """
        cell = np.minimum((epsilon * self.cells).astype(np.intp), self.cells - 1)
        count = np.bincount(cell, minlength=self.cells).astype(np.float64)
        return Offer(self.thresholds(count, budget)[cell])

    def thresholds(self, count: Floats, budget: float) -> Floats:
        """Return the threshold of each cell, for so many owners in each."""
        if budget >= count.sum():
            return np.ones(self.cells)
        step = self._enclosing(count, budget)
        dear, cheap = self._at(step)[0], self._at(step + 1)[0]
        low, high = 0.0, 1.0  # the share of the cheaper λ, which buys more
        mixed = dear
        for _ in range(_HALVINGS):
            share = (low + high) / 2
            mixed = dear + share * (cheap - dear)
            excess = float(count @ (mixed * self._law.cdf(mixed))) - budget
            if abs(excess) <= PRICE_TABLE.value * budget:
                break
            low, high = (low, share) if excess > 0 else (share, high)
        return mixed

    def _enclosing(self, count: Floats, budget: float) -> int:
        """Bracket the budget: k with the spend at exp(−k · step) within it, not at k + 1."""

        def spend(k: int) -> float:
            return float(count @ self._at(k)[1])

        below = above = _FIRST
        stride = 1
        while spend(below) > budget:
            above, below, stride = below, below - stride, 2 * stride
        stride = 1
        while above < _FARTHEST and spend(above) <= budget:
            below, above, stride = above, above + stride, 2 * stride
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (middle, above) if spend(middle) <= budget else (below, middle)
        return below

    def _row(self, k: int) -> tuple[Floats, Floats]:
        """Return thresholds and spends of all cells at λ = exp(−k · step)."""
        threshold = self._law.inverse_virtual_cost(self.middle * np.exp(k * STEP))
        return threshold, threshold * self._law.cdf(threshold)


@lru_cache(maxsize=4)
def price_table(correlation: float) -> PriceTable:
    """Return the table of a correlation, made once a process."""
    return PriceTable(correlation)
