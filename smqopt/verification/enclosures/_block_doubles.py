"""What blocks add to the weak-duality bound, between doubles.

Where every law of a block runs straight between the ends of its support, F is a subtraction and a
quotient, and what `Blocks.enclose` works out in doubles holds with the roundings that it counts.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.market import Blocks
from smqopt.numeric import BLOCK_EXCESS, ROUNDING, Floats, Indices, exact_sum
from smqopt.valuation import Uniform
from smqopt.verification.enclosures._line_protocol import UNDERFLOW, UNIT


def run_straight(blocks: Blocks) -> bool:
    """Return whether F of all rows in blocks is straight between two ends."""
    return all(isinstance(law, Uniform) for law in blocks.terms.laws) and bool(np.all(blocks.terms.weight == 1))


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
