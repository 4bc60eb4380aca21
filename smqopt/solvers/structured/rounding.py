"""Offers without lotteries: each owner who would draw gets one of her two prices, so that every row still holds.

What is lost is at most the jumps of the owners who get their lower price, times what their requirements are worth; `details` says how far
the answer is from the bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import SolverError
from smqopt.numeric.tolerances import SIDE_GAP
from smqopt.program.lottery import Lottery
from smqopt.solvers.structured.dual_newton import Dual
from smqopt.solvers.structured.recovery import Offers

__all__ = ["without_lotteries"]

Floats = NDArray[np.float64]

_ROUNDS = 256
"""Owners who are passed over, because their higher price breaks a row, before the rest keep their lower price."""


def without_lotteries(dual: Dual, offers: Offers, budget: float) -> Offers:
    """Give each owner who draws one of her two prices: the higher ones to those nearest to it, as long as all rows hold.

    Parameters
    ----------
    dual
        The dual of the statement that was solved.
    offers
        Offers with lotteries.
    budget
        B, in currency; never overspent.

    Raises
    ------
    SolverError
        If no prices are found that keep every constraint.
    """
    drawn = offers.lottery
    if drawn is None:
        return offers
    statement, rows = dual.owners.statement, drawn.owner
    q, spend, theta = offers.acceptance.copy(), offers.spend.copy(), offers.thresholds.copy()
    needed = dual.owners.worth.take(rows).needed & (drawn.low_acceptance <= 0)
    must_rise = (statement.lowest[rows] > drawn.low_acceptance) | needed
    may_rise = statement.highest[rows] >= drawn.high_acceptance
    _post(q, spend, theta, drawn, must_rise)
    order = np.lexsort((rows, drawn.probability_of_low))
    left = dual.left(q, spend)
    left[0] += budget - dual.r[0]
    size = np.maximum(dual.sizes(), np.finfo(float).tiny)
    order = order[(may_rise & ~must_rise)[order]]
    high = must_rise.copy()
    rise = drawn.high_acceptance - drawn.low_acceptance
    used = _used(dual, rows, rise, drawn.high * drawn.high_acceptance - drawn.low * drawn.low_acceptance)
    helps = np.any(used[left < 0] < 0, axis=0)
    for chosen, enough in (
        (order[helps[order]], True),
        (order, False),
    ):  # first those whom a row short of acceptance needs
        left = _raised(chosen[~high[chosen]], high, used, left, enough=enough)
    _post(q, spend, theta, drawn, high)
    _require_rows(dual, left, size)
    return Offers(theta, q, spend, None)


def _raised(order: NDArray[np.intp], high: NDArray[np.bool_], used: Floats, left: Floats, *, enough: bool) -> Floats:
    """Raise owners in order, passing over those who would break a row, until no row is short if that is enough; gives what the rows then leave."""
    for _ in range(_ROUNDS):
        if order.size == 0 or (enough and not np.any(left < 0)):
            break
        heaped = np.cumsum(used[:, order], axis=1)
        after = left[:, np.newaxis] - heaped
        good = np.all((after >= 0) | (used[:, order] <= 0), axis=0)
        if enough:
            good[1:] &= np.any(after[:, :-1] < 0, axis=0)  # nobody is raised once no row is short
        prefix = good.size if good.all() else int(np.argmin(good))
        high[order[:prefix]] = True
        if prefix:
            left = after[:, prefix - 1]
        order = order[prefix + 1 :] if not enough or np.any(left < 0) else order[:0]
    return left


def _post(q: Floats, spend: Floats, theta: Floats, drawn: Lottery, high: NDArray[np.bool_]) -> None:
    """Post the higher price where said, else the lower one."""
    rows = drawn.owner
    theta[rows] = np.where(high, drawn.high, drawn.low)
    q[rows] = np.where(high, drawn.high_acceptance, drawn.low_acceptance)
    spend[rows] = theta[rows] * q[rows]


def _used(dual: Dual, rows: NDArray[np.intp], rise: Floats, dearer: Floats) -> Floats:
    """Give what the higher price of each owner uses of each row; shape (k + 1, owners)."""
    of_rows = dual.A[:, rows].multiply(rise[np.newaxis, :]) + dual.S[:, rows].multiply(dearer[np.newaxis, :])
    return np.vstack([dual.m[rows] * dearer, of_rows.toarray()])


def _require_rows(dual: Dual, left: Floats, size: Floats) -> None:
    broken = np.where(dual.equal, np.abs(left), -left) > SIDE_GAP.value * size
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        raise SolverError(
            "structured solver",
            "found no prices without lotteries that keep every constraint",
            value=dual.owners.statement.names[row - 1] if row else "the budget",
            remedy="allow lotteries, or relax the constraint a little",
        )
