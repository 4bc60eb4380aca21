"""The public candidates of a weighted sum: multiples of a fine step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.numeric import Floats, Integers
from smqopt.query.exponential._cost_of_distance import CostOfDistance, RelaxedCost
from smqopt.query.exponential._integer_units import WholeUnits
from smqopt.query.exponential._score import Score

_FINENESS = 64
_NEAR = 2.0
"""A cost at which weights have fallen to 1/e."""


@dataclass(frozen=True)
class Grid:
    """Candidates `start` + j `step`, each for the sums nearest to it, its cell."""

    start: float
    step: float
    cell: int
    """How many whole-number sums a cell holds, T = step/unit."""
    before: int
    """How many units the first whole-number sum lies beyond the start of the cell of candidate 0.
    """
    first: int
    """The number of the first candidate."""
    last: int
    """The number of the last candidate."""

    def values(self, results: Integers) -> Floats:
        """Return candidates by their numbers j."""
        return np.asarray(self.start + results * self.step, dtype=np.float64)

    def score(self, place: int, up: CostOfDistance, down: CostOfDistance, ceiling: float) -> Score:
        """Return the cost of each candidate: that of the nearest sum in its cell.

        Parameters
        ----------
        place
            The sum itself, in units above the least.
        up, down
            The cost of moving it.
        ceiling
            Costs from here on are `ceiling`.
        """
        own, into = divmod(place + self.before, self.cell)
        upward, free_up = self._paid(up, self.cell - into, self.last - own)
        downward, free_down = self._paid(down, into + 1, own - self.first)
        low, high = own - free_down - downward.size, own + free_up + upward.size
        lengths = [low - self.first, *[1] * downward.size, free_up + free_down + 1, *[1] * upward.size]
        length = np.array([*lengths, self.last - high], dtype=np.int64)
        cost = np.concatenate([[ceiling], downward[::-1], [0.0], upward, [ceiling]])
        start = self.first + np.concatenate([[0], np.cumsum(length[:-1])])
        held = length > 0
        return Score(start[held], length[held], cost[held])

    def _paid(self, cost: CostOfDistance, edge: int, cells: int) -> tuple[Floats, int]:
        """Return the costs of cells from the first that costs, and how many are free."""
        free = min(max((cost.free - edge) // self.cell + 1, 0), cells)
        below = min(max(-((edge - cost.far) // self.cell), free), cells)
        distance = edge + np.arange(free, below, dtype=np.int64) * self.cell
        return cost(distance), free


def grid(units: WholeUnits, step: float) -> Grid:
    """Lay candidates at multiples of a step over the range of a weighted sum.

    Parameters
    ----------
    units
        The sum in whole numbers.
    step
        At least a unit; rounded to a multiple of the unit.
    """
    cell = max(1, round(step / units.unit))
    step = cell * units.unit
    least = units.origin + units.least * units.unit
    start = math.floor(least / step) * step
    before = min(max(round((least - start) / units.unit), 0), cell) + cell // 2
    return Grid(start, step, cell, before, before // cell, (before + units.most - units.least) // cell)


def fine_step(units: WholeUnits, least_cost: RelaxedCost) -> float:
    """Return a step that is fine against the noise, from public numbers alone.

    The step is the largest power of two that is at most a 64th of the distance from which on every
    data set has a cost of 2 or more, or of the whole range, but at least a unit.

    Parameters
    ----------
    units
        The sum in whole numbers.
    least_cost
        The cost of a distance if each entry could move over its whole range: no data set lets it be
        covered for less.
    """
    return math.ldexp(units.unit, max(0, math.frexp(least_cost.distance(_NEAR) / _FINENESS)[1] - 1))
