r"""The draw: the privacy promised is the privacy given, rounding included.

A release is drawn with whole-number weights and whole random numbers, so what is drawn follows its
law exactly. Where that law differs from the P-E law of `pe.py`, it errs on the owners' side:

1. Requirements are lowered to a grid, ε̂_i = max(0, ⌊2^45 ε_i⌋ − 1 − 2^46 η) 2^−45, and scores are
  computed from ε̂. Sums
   of ε̂ below the ceiling 2^8 are then multiples of 2^−45 below 2^8: they are exact in double
   precision, in any order. η is the query's `rounding_of_cost`: its costs may differ by that much
   from costs that move by at most ε̂_i when entry i changes. It is 0 where costs are such sums and
   nothing else.
2. Costs are cut at the ceiling. A cut cost still moves by at most ε̂_i when entry i changes.
3. The weight of a result is W = 2^256 exp(−cost/2), a whole number: the double exp(−cost/2) has its
  last bit above
   2^−256. Its one rounding is that of `math.exp`; let it be relative and at most δ.
4. A whole number below Σ W is drawn, uniformly, and picks the result.

Changing entry i moves every cost by at most ε̂_i + 2η. Where ε̂_i = 0 costs, and so weights, stay
what they are to the last bit, and the law too. Else a weight moves by a factor of at most
exp(ε̂_i/2 + η)(1+δ)/(1−δ), the total likewise, and the logarithm of a probability by at most ε̂_i +
2η + 2 ln((1+δ)/(1−δ)) ≤ ε̂_i + 2η + 2^−45 ≤ ε_i whenever δ ≤ 2^−48: sixteen units in the last
place, where the usual mathematical libraries stay within one. So the draw is ε_i-PDP for every
owner, with nothing left over, if the random bits are uniform.

The price is accuracy, not privacy. A result at a cost below the ceiling has a probability within a
factor exp(±((k+1) 2^−44 + (k+1) η)) of its P-E probability, k the number of entries; a result cut
at the ceiling gains at most exp(−128).

Time and memory used are not covered by any of this.
"""

from __future__ import annotations

import math
import secrets
from bisect import bisect_right
from itertools import accumulate

import numpy as np

from smqopt.numeric import Floats
from smqopt.query.exponential._score import Score

CEILING = 2.0**8
GRID = 2.0**45
UNIT = 2.0**256


def lower_to_grid(epsilon: Floats, rounding_of_cost: float = 0.0) -> tuple[Floats, float]:
    """Lower the requirements to the grid of the draw.

    Parameters
    ----------
    epsilon
        ε_i, shape (k,).
    rounding_of_cost
        How far the query's costs may be off.

    Returns
    -------
    tuple
        ε̂, shape (k,), 0 ≤ ε̂_i ≤ ε_i; and the ceiling of costs.
    """
    steps = np.floor(np.minimum(epsilon, 2.0 * CEILING) * GRID) - (1.0 + 2.0 * rounding_of_cost * GRID)
    return np.maximum(steps, 0.0) / GRID, CEILING


def whole_weights(cost: Floats) -> list[int]:
    """Return 2^256 exp(−cost/2) as whole numbers.

    For costs from 0 to the ceiling that are multiples of the grid.
    """
    return [int(math.exp(-0.5 * c) * UNIT) for c in cost.tolist()]


def draw(score: Score, rng: np.random.Generator | None = None) -> int:
    """Draw a result from the whole-number law.

    Parameters
    ----------
    score
        Computed from the requirements of `lower_to_grid` and cut at their ceiling. Private.
    rng
        For a simulation; None draws from the operating system's cryptographic source.
    """
    weights = whole_weights(score.cost)
    pieces = [weight * length for weight, length in zip(weights, score.length.tolist(), strict=True)]
    reached = list(accumulate(pieces))
    u = below(reached[-1], rng)
    piece = bisect_right(reached, u)
    left: int = u - (reached[piece] - pieces[piece])
    return int(score.start[piece]) + left // weights[piece]


def below(bound: int, rng: np.random.Generator | None) -> int:
    """Draw a whole number from 0, …, bound − 1, each with the same probability.

    From the operating system's cryptographic source; a simulation gives a generator.
    """
    if rng is None:
        return secrets.randbelow(bound)
    bits = bound.bit_length()
    u = bound
    while u >= bound:
        u = int.from_bytes(rng.bytes((bits + 7) // 8), "little") >> (-bits % 8)
    return u
