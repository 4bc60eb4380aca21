"""The last steps where acceptance jumps: prices pinned to the slopes of the pieces that owners stand on.

Where jumps are spread over a range of prices, the answer is off by about that range. From there the owners who stand inside a piece
are known. For them J is the slope s of the piece, so e_i = p_i s_i holds exactly, and the shares t_i by which they have crossed are
unknowns of their own: Newton's method on both together, with rows that have a multiplier met, and no range any more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.solvers.structured.dual_newton import Dual, Point

__all__ = ["Pinned", "pinned"]

Floats = NDArray[np.float64]

_ROUNDS = 4
_MOST = 2000
"""Owners inside pieces, beyond which the dense system is not worth its size."""


@dataclass(frozen=True)
class Pinned:
    """Multipliers, and the acceptances that go with them, those inside pieces included."""

    z: Floats
    acceptance: Floats


def pinned(dual: Dual, point: Point, h: float, all_privacy: float, price_share: float) -> Pinned | None:
    """Pin prices to the pieces that owners stand on at a point whose jumps are spread by h; None where there are too many of them.

    Where the budget is not spent its price is set to a share of what it is at the point: to 0, or nearly so, for a price of 0 leaves some
    owners indifferent to what they are paid.
    """
    owners, statement = dual.owners, dual.owners.statement
    rows, on = owners.crossed(point.answer.v, h)
    v = point.answer.v[rows]
    share = (v - on.slope * (1.0 - h)) / (2.0 * h * on.slope)
    strictly = (share > 0) & (share < 1)
    rows, share = rows[strictly], share[strictly]
    if rows.size > _MOST or np.unique(rows).size < rows.size:
        return None
    s, low, rise = on.slope[strictly], on.low_acceptance[strictly], (on.high_acceptance - on.low_acceptance)[strictly]
    paid_low = (on.low * on.low_acceptance)[strictly]
    paid_more = (on.high * on.high_acceptance)[strictly] - paid_low
    active = dual.equal | (point.z * point.scale / all_privacy > point.left / point.scale)
    z = np.where(active, point.z, 0.0)
    z[0] = point.z[0] if active[0] else price_share * point.z[0]
    m = dual.m[rows]
    every = np.vstack([m * s, (dual.A.T.tocsr()[rows] + dual.S.T.tocsr()[rows].multiply(s[:, np.newaxis])).todense().T])
    own = every[active]
    q = point.answer.acceptance
    for _ in range(_ROUNDS):
        at = dual.at(z, 0.0)
        q, spend = at.answer.acceptance.copy(), at.answer.spend.copy()
        q[rows], spend[rows] = low + share * rise, paid_low + share * paid_more
        weight = dual.curvature(at)
        weight[rows] = 0.0
        H = dual.curved(at.answer.v, weight)[np.ix_(active, active)]
        left = dual.left(q, spend)[active]
        requirement = dual.epsilon[rows] * m - every.T @ z
        system = np.block([[-H, own * rise], [own.T, np.zeros((rows.size, rows.size))]])
        wanted = np.concatenate([left, requirement])
        size = np.sqrt(np.maximum(np.max(np.abs(system), axis=1, initial=0.0), np.finfo(float).tiny))
        step = np.linalg.lstsq(system / np.outer(size, size), wanted / size, rcond=None)[0] / size
        z[active] = np.maximum(z[active] + step[: left.size], np.where(dual.equal, -np.inf, 0.0)[active])
        share = np.clip(share + step[left.size :], 0.0, 1.0)
    at = dual.at(z, 0.0)
    q = at.answer.acceptance.copy()
    q[rows] = low + share * rise
    return Pinned(z, np.clip(q, statement.lowest, statement.highest))
