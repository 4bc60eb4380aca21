"""The cost of moving a weighted sum: a min-knapsack, or its relaxation."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Integers

_FEW = 1 << 15
"""How many of the cheapest entries are tried first: a large market seldom needs more."""
ROUNDING_OF_COST = 2.0**-42
"""How far a relaxed cost below 2^8 may be off, if requirements are multiples of 2^−45.

Sums of whole entries are exact. The share of the last entry, its cost and the sum are rounded once
each: 2^−44 and 2^−45. Entries whose ε_i/room_i are equal as doubles may be taken in the wrong
order: another 2^−44. """


class CostOfDistance(abc.ABC):
    """The least Σ ε_i over entries whose change covers a distance."""

    free: int
    """The distance that owners with ε_i = 0 cover."""
    far: int
    """From this distance on the cost is the ceiling, or cannot be reached; at most a few units more
    than the least such."""

    @abc.abstractmethod
    def __call__(self, distance: Integers) -> Floats:
        """Return the cost of whole distances, cut at the ceiling."""


@final
@dataclass(frozen=True, eq=False)
class RelaxedCost(CostOfDistance):
    """The linear relaxation (errata F4).

    Entry i changed by a fraction x_i costs ε_i x_i and covers room_i x_i.

    The optimum takes entries in order of ε_i/room_i, the last one by a fraction. So the cost is
    convex and piecewise linear in the distance, and never above the knapsack's.
    """

    free: int
    far: int
    reach: Integers
    """The distance covered by the first entries in order, shape (m,)."""
    room: Integers
    """Theirs, shape (m,)."""
    spent: Floats
    """The cost of the entries before each, shape (m,)."""
    epsilon: Floats
    """Theirs, shape (m,)."""
    ceiling: float

    @classmethod
    def over(cls, room: Integers, epsilon: Floats, ceiling: float) -> RelaxedCost:
        """Order entries by ε_i/room_i and add them up.

        Doubles of equal quotient may stand in the wrong order: quotients then differ by at most
        2^−52, relative, and so does what they add to the cost.

        Parameters
        ----------
        room
            By how far each entry can move the sum, in units, shape (k,), each from 0 to 2^52.
        epsilon
            ε_i, shape (k,).
        ceiling
            Costs from here on are given as `ceiling`.
        """
        paying = np.flatnonzero((room > 0) & (epsilon > 0))
        free = int(room[epsilon == 0].sum())
        order = _cheapest_first(paying, room, epsilon, ceiling)
        spent = np.cumsum(epsilon[order])
        kept = int(np.searchsorted(spent, ceiling)) + 1  # up to the first entry at which the ceiling is reached
        order, spent = order[:kept], spent[:kept]
        room, epsilon = room[order], epsilon[order]
        reach = np.cumsum(room)
        before = np.concatenate([[0.0], spent[:-1]])
        far = free + (int(reach[-1]) if reach.size else 0) + 1
        if spent.size and spent[-1] >= ceiling:
            share = (ceiling - before[-1]) / epsilon[-1]
            far = free + int(reach[-1] - room[-1]) + int(np.ceil(share * room[-1])) + 2  # 2 bears its rounding
        return cls(free, far, reach, room, before, epsilon, ceiling)

    def distance(self, cost: float) -> int:
        """Return a distance from which on the cost is at least `cost`.

        To a few units; the whole room where the cost never gets there.
        """
        i = int(np.searchsorted(self.spent + self.epsilon, cost))
        if i == self.reach.size:
            return self.far - 1
        share = (cost - self.spent[i]) / self.epsilon[i]
        return self.free + int(self.reach[i] - self.room[i]) + int(np.ceil(share * self.room[i]))

    def __call__(self, distance: Integers) -> Floats:
        """Return the cost of whole distances."""
        paid = np.maximum(distance - self.free, 0)
        if self.reach.size == 0:
            return np.zeros(paid.shape)
        last = np.minimum(np.searchsorted(self.reach, paid), self.reach.size - 1)
        share = (paid - (self.reach[last] - self.room[last])) / self.room[last]
        cost: Floats = np.minimum(self.spent[last] + share * self.epsilon[last], self.ceiling)
        return cost


def _cheapest_first(paying: NDArray[np.intp], room: Integers, epsilon: Floats, ceiling: float) -> NDArray[np.intp]:
    """Order entries by ε_i/room_i, as many as sum to the ceiling."""
    price = epsilon[paying] / room[paying]
    some = _FEW
    while some < paying.size:
        first = np.argpartition(price, some)[:some]
        if epsilon[paying[first]].sum() >= 2.0 * ceiling:  # twice: the sum is rounded
            first.sort()
            return paying[first[np.argsort(price[first], kind="stable")]]
        some *= 4
    return paying[np.argsort(price, kind="stable")]


@final
@dataclass(frozen=True, eq=False)
class KnapsackCost(CostOfDistance):
    """The min-knapsack itself: entries change whole or not at all.

    It tries every set of owners, so it is for few of them.
    """

    free: int
    far: int
    reach: Integers
    """Distances that sets of owners cover, ascending, shape (2^k,)."""
    cheapest: Floats
    """The least cost of a set that covers as much or more, shape (2^k,)."""

    LARGEST = 20
    """The most owners whose sets are tried."""

    @classmethod
    def over(cls, room: Integers, epsilon: Floats, ceiling: float) -> KnapsackCost:
        """Try every set of owners; arguments as for `RelaxedCost.over`."""
        reach, cost = np.zeros(1, dtype=np.int64), np.zeros(1)
        for one_room, one_epsilon in zip(room.tolist(), epsilon.tolist(), strict=True):
            reach = np.concatenate([reach, reach + one_room])
            cost = np.concatenate([cost, np.minimum(cost + one_epsilon, ceiling)])
        order = np.argsort(reach, kind="stable")
        reach = reach[order]
        cheapest = np.minimum.accumulate(cost[order][::-1])[::-1]
        far = int(reach[-1]) + 1
        dear = np.flatnonzero(cheapest >= ceiling)
        if dear.size:
            far = int(reach[dear[0] - 1]) + 1  # reach 0 costs nothing
        return cls(int(room[epsilon == 0].sum()), far, reach, cheapest)

    def __call__(self, distance: Integers) -> Floats:
        """Return the cost of whole distances."""
        return self.cheapest[np.searchsorted(self.reach, distance)]
