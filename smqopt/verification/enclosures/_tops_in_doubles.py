"""What blocks and price lists add to the weak-duality bound, between doubles.

Where every law of a block runs straight between the ends of its support, F is a subtraction and a
quotient, and what `Blocks.enclose` works out in doubles holds with the roundings that it counts. Of
a list the best price is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.market import Blocks
from smqopt.numeric import BLOCK_EXCESS, ROUNDING, Floats, Indices, exact_sum
from smqopt.valuation import Index, Uniform
from smqopt.verification.enclosures._line_protocol import UNDERFLOW, UNIT, Lines, SupportLines

_ROUNDINGS = 16
"""Of a difference of two products with a difference each."""


@dataclass(frozen=True, eq=False)
class OpenLists:
    """The price lists of some owners."""

    number: Indices
    """Whose list each owner's prices come from, −1 for none."""
    lists: tuple[Floats, ...]

    def take(self, index: Index) -> OpenLists:
        """Return those of the owners at `index`."""
        return OpenLists(self.number[index], self.lists)


def run_straight(blocks: Blocks) -> bool:
    """Return whether F of all rows in blocks is straight between two ends."""
    return all(isinstance(law, Uniform) for law in blocks.terms.laws) and bool(np.all(blocks.terms.weight == 1))


def rests_of_lists(
    known: SupportLines, lines: Lines, charged: tuple[Floats, Floats], theta: Floats, block: slice, open_to: OpenLists
) -> Floats:
    """Bound what the best listed price exceeds the worth of a touched threshold by.

    Parameters
    ----------
    known
        F of the owners of one law.
    lines
        Its values at thresholds.
    charged
        Requirements and prices ≥ 0 of the owners of a block.
    theta
        The thresholds, in currency.
    block
        Which owners of the law these are.
    open_to
        Their lists; whoever has none is bounded by 0.
    """
    (e, p), best, dearest = charged, np.zeros(theta.size), theta.copy()
    low, high = known.ends(block)
    for number, prices in enumerate(open_to.lists):
        mine = open_to.number == number
        for price in prices.tolist() if mine.any() else ():
            at = np.clip(np.full(theta.size, price), low, high)
            F = np.where(price < low, 0.0, np.where(price >= high, 1.0, known.at(at, block).high))
            best = np.where(mine, np.maximum(best, (e - p * price) * F), best)
            dearest = np.maximum(dearest, price)
    value = e - p * theta
    worth = value * np.where(value >= 0, lines.low, lines.high)
    return np.maximum(best - worth, 0.0) + _ROUNDINGS * UNIT * (np.abs(e) + p * dearest) + UNDERFLOW


def tops_in_doubles(blocks: Blocks, row: Indices, a: Floats, c: Floats, whole: float) -> float:
    """Return a double above what all blocks add, infinite where none holds it.

    Parameters
    ----------
    blocks
        Whose laws run straight; without floors, ceilings and lists.
    row
        The row of each owner, shape (n,).
    a, c
        What one more acceptance of each owner is worth, and what a payment costs, c ≥ 0; (n,).
    whole
        What the bound comes to, nearly: how near the tops are looked for goes by it.
    """
    rows = blocks.rows
    highest = blocks.highest()[blocks.of_row[rows]]
    count = np.bincount(row)
    size = np.bincount(row, weights=np.abs(a))[rows] + np.bincount(row, weights=c)[rows] * highest
    a, c = (np.bincount(row, weights=each).astype(np.float64) for each in (a, c))
    summed = UNIT * exact_sum(np.where(count > 1, count, 0.0)[rows] * size)
    found = blocks.enclose(a, c, BLOCK_EXCESS.value * abs(whole) / blocks.count)
    lost = UNDERFLOW * (1.0 + exact_sum(np.abs(a[rows]) + c[rows] * highest))
    total = (exact_sum(found.top) + 2 * summed) * (1.0 + ROUNDING.value) + lost
    return total if math.isfinite(total) else math.inf
