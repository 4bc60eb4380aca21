"""The score of a query: for each result, the least ε that must change to reach it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.numeric import Floats, Integers


@dataclass(frozen=True, eq=False)
class Score:
    """Costs −σ_φ(d, r) ≥ 0 over consecutive results r, in constant pieces. Private.

    The cost of r is the least Σ ε_i over sets of owners such that some change of their entries
    alone makes r the exact result (`sec:prelim`). So it is 0 at the exact result, and moves by at
    most ε_i when the entry of owner i changes.
    """

    start: Integers
    """The first result of each piece, ascending, shape (m,)."""
    length: Integers
    """How many results each piece holds, at least one, shape (m,)."""
    cost: Floats
    """The cost of every result of the piece, in units of ε, shape (m,)."""

    @property
    def results(self) -> Integers:
        """Every result, ascending."""
        return np.arange(self.start[0], self.start[-1] + self.length[-1], dtype=np.int64)

    def without_ends(self, cost: float) -> Score:
        """Leave out what lies before the first and after the last piece that costs less."""
        held = np.flatnonzero(self.cost < cost)
        kept = slice(held[0], held[-1] + 1)
        return Score(self.start[kept], self.length[kept], self.cost[kept])
