r"""The law of the total on a grid, added up owner by owner.

Each payment θ is moved to the nearest point k h of a grid; what is left, r = θ − k h, is at most
h/2 in size. So

    P(total > A) ≤ P(grid total > A − ρ − s) + P(Σ r − ρ > s),   ρ = E Σ r,

and the second term is at most exp(−2 s²/Σ m (range of r)²) (Hoeffding 1963). The first is a sum of
non-negative numbers, so that its rounding is relative.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.numeric import Floats, exact_dot
from smqopt.questions.payment._posted_offers import OffersMade

MOST_OWNERS = 8192
"""With more owners the grid is not tried."""
_WORK = 1 << 27
"""Cells times owners, at most."""
_MOST_CELLS = 1 << 15
_REST = 1.0 / 64.0
"""The part of δ that is left for what the grid does not see."""
_UNIT = 2.0**-53
"""One rounding to nearest, relative."""


def grid_amount(offers: OffersMade, counts: Floats, amount: float, probability: float) -> float:
    """Return an amount that the total exceeds with probability at most δ.

    Parameters
    ----------
    offers
        What may be posted, with chances.
    counts
        Owners of each row, at most `MOST_OWNERS` in all.
    amount
        One that is known, in currency, > 0; a smaller one is looked for.
    probability
        δ, in (0, 1).

    Returns
    -------
    float
        In currency; +∞ where the grid gives none below `amount`.
    """
    order = np.argsort(offers.row, kind="stable")
    row, theta = offers.row[order], offers.threshold[order]
    paid = offers.chance[order] * offers.acceptance[order]
    owners = max(1, int(counts.sum()))
    prices = np.unique(theta)
    cells = min(_MOST_CELLS, max(2, _WORK // owners))
    h = float(prices[0]) if prices.size == 1 else amount / (cells - 2)
    k = np.rint(theta / h).astype(np.int64)
    rest = theta - k * h
    size = min(cells, int(amount / h) + 2)
    first = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    ends = np.append(first[1:], row.size)
    spread = 0.0
    law = np.zeros(size)
    law[0] = 1.0
    above = 0.0
    for start, end in zip(first.tolist(), ends.tolist(), strict=True):
        steps, chances = k[start:end].tolist(), paid[start:end].tolist()
        rests = [0.0, *rest[start:end].tolist()]
        many = int(counts[row[start]])
        spread += many * (max(rests) - min(rests)) ** 2
        stay = max(0.0, 1.0 - math.fsum(chances)) * (1.0 + 4 * _UNIT)
        for _ in range(many):
            above, law = _with_owner(law, above, steps, chances, stay)
    allowance = 1.0 + 8.0 * (owners + 8) * _UNIT + 2.0 * size * _UNIT
    mean_rest = exact_dot(rest * paid, counts[row])
    beyond = math.sqrt(spread * math.log(1.0 / (_REST * probability)) / 2.0) if spread > 0 else 0.0
    wanted = probability * (1.0 - _REST) if spread > 0 else probability
    tail = (above + np.append(np.cumsum(law[::-1])[-2::-1], 0.0)) * allowance  # tail[j] bounds P(grid total > j h)
    enough = np.flatnonzero(tail <= wanted)
    if not enough.size:
        return math.inf
    margin = (owners + 8) * 4.0 * _UNIT * float(amount)
    return float(enough[0]) * h + mean_rest + beyond + margin


def _with_owner(law: Floats, above: float, steps: list[int], chances: list[float], stay: float) -> tuple[float, Floats]:
    """Add one owner's payment: the law on the grid, and the mass above it."""
    new = stay * law
    more = above
    for step, chance in zip(steps, chances, strict=True):
        if step < law.size:
            new[step:] += chance * law[: law.size - step]
            more += chance * float(law[law.size - step :].sum())
        else:
            more += chance * float(law.sum())
    return more, new
