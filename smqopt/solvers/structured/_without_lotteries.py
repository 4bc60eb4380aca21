"""Offers without lotteries.

Each owner who would draw gets one of her two prices, so that every row still holds.

What is lost is at most the jumps of the owners who get their lower price, times what their
requirements are worth; `details` says how far the answer is from the bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Lottery, Offers
from smqopt.numeric import SIDE_GAP, Floats
from smqopt.solvers.structured._dual_newton import Dual

_ROUNDS = 256
"""Owners who are passed over, because their higher price breaks a row, before the rest keep their
lower price."""


def without_lotteries(dual: Dual, offers: Offers, budget: float) -> tuple[Offers, Floats]:
    """Return each owner who draws one of her two prices.

    The higher ones to those nearest to it, as long as all rows hold.

    Parameters
    ----------
    dual
        The dual of the statement that is to hold.
    offers
        Offers with lotteries.
    budget
        B, in currency; never overspent.

    Returns
    -------
    offers, broken
        And what the budget and each row are broken by, 0 where they hold; shape (k + 1,).
    """
    statement, size = dual.owners.statement, np.maximum(dual.sizes(), np.finfo(float).tiny)
    left = dual.left(offers.acceptance, offers.spend)
    left[0] += budget - dual.r[0]
    if offers.lottery is not None:
        offers, left = _post_all(dual, offers, offers.lottery, budget)
    beyond = np.where(np.append(False, statement.equal), np.abs(left), np.maximum(-left, 0.0))
    return offers, np.where(beyond > SIDE_GAP.value * size, beyond, 0.0)


def _post_all(dual: Dual, offers: Offers, drawn: Lottery, budget: float) -> tuple[Offers, Floats]:
    """Post one price to each who draws.

    Gives what the budget and the rows then leave too.
    """
    statement, rows = dual.owners.statement, drawn.owner
    q, spend, theta = offers.acceptance.copy(), offers.spend.copy(), offers.thresholds.copy()
    needed = dual.owners.utility.take(rows).needed & (drawn.low_acceptance <= 0)
    must_rise = (statement.lowest[rows] > drawn.low_acceptance) | needed
    may_rise = statement.highest[rows] >= drawn.high_acceptance
    _post(q, spend, theta, drawn, must_rise)
    order = np.lexsort((rows, drawn.probability_of_low))
    left = dual.left(q, spend)
    left[0] += budget - dual.r[0]
    order = order[(may_rise & ~must_rise)[order]]
    high = must_rise.copy()
    rise = drawn.high_acceptance - drawn.low_acceptance
    used = _uses(dual, rows, rise, drawn.high * drawn.high_acceptance - drawn.low * drawn.low_acceptance)
    helps = np.any(used[left < 0] < 0, axis=0)
    for chosen, enough in (
        (order[helps[order]], True),
        (order, False),
    ):  # first those whom a row short of acceptance needs
        left = _raise(chosen[~high[chosen]], high, used, left, enough=enough)
    _post(q, spend, theta, drawn, high)
    return Offers(theta, q), left


def _raise(order: NDArray[np.intp], high: NDArray[np.bool_], used: Floats, left: Floats, *, enough: bool) -> Floats:
    """Raise owners in order until no row is short; returns what the rows then leave.

    Passes over those who would break a row.
    """
    for _ in range(_ROUNDS):
        if order.size == 0 or (enough and not np.any(left < 0)):
            break
        summed = np.cumsum(used[:, order], axis=1)
        after = left[:, np.newaxis] - summed
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


def _uses(dual: Dual, rows: NDArray[np.intp], rise: Floats, dearer: Floats) -> Floats:
    """Return what the higher price of each owner uses of each row.

    Shape (k + 1, owners).
    """
    of_rows = dual.A[:, rows].multiply(rise[np.newaxis, :]) + dual.S[:, rows].multiply(dearer[np.newaxis, :])
    return np.vstack([dual.m[rows] * dearer, of_rows.toarray()])
