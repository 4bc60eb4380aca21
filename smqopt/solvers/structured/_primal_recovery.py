"""From multipliers to offers.

Acceptance is moved along the owners' answers until every active row is met.

Where acceptance is steep in the multipliers, no double holds multipliers that meet a row to the
last digits; moving acceptance itself does. The move is the primal half of a Newton step, and
changes the objective in the second order alone.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Offers, joined_pieces, offers_within_pieces
from smqopt.numeric import Floats
from smqopt.solvers.structured._dual_newton import Dual, DualPoint

_ROUNDS = 4
_ACTIVE = 2.0**-24
_CLOSE = 2.0**-51
"""Residuals below this share of a row's terms are rounding."""
_STEP = 2.0**-24
"""Step in acceptance for the slope of a hull."""


def recover(dual: Dual, point: DualPoint, acceptance: Floats | None = None) -> Offers:
    """Make offers of the owners' answers, moved to meet the active rows.

    Parameters
    ----------
    dual
        The dual.
    point
        Multipliers near the optimum, and the answers to them.
    acceptance
        Acceptances to start from, shape (n′,); by default the answers.
    """
    answer = point.answer
    moved = _meet_rows(dual, point, acceptance)
    at = np.flatnonzero((moved != answer.acceptance) | answer.spread)
    theta, q = answer.thresholds.copy(), answer.acceptance.copy()
    reduced = dual.owners.statement.reduced
    if at.size:
        law = reduced.valuation.take(at)
        theta[at] = dual.owners.prices(moved)[at]
        q[at] = np.where(moved[at] > 0, law.cdf(theta[at]), 0.0)  # an atom at low is not sold by no offer
    pieces = joined_pieces([dataclasses.replace(on, owner=rows) for rows, on in dual.owners.pieces(moved)])
    return offers_within_pieces(theta, q, moved, pieces)


def active_rows(dual: Dual, point: DualPoint, left: Floats) -> NDArray[np.bool_]:
    """Return which rows hold with equality and have a multiplier; shape (k + 1,)."""
    return dual.equal | (point.z > 0) & (left <= _ACTIVE * point.scale)


def _meet_rows(dual: Dual, point: DualPoint, q: Floats | None) -> Floats:
    """Return acceptances that meet the active rows, up to rounding."""
    statement, answer = dual.owners.statement, point.answer
    weight = dual.curvature(point)
    v = np.where(weight > 0, answer.v, 0.0)
    if q is None:
        q = np.clip(answer.acceptance, 0.0, 1.0)
        cost = dual.owners.cost(q) if dual.owners.jumps else answer.spend
        left = dual.left(q, cost) if dual.owners.jumps else point.left
    else:
        cost = dual.owners.cost(q)
        left = dual.left(q, cost)
        _loosen(dual, q, answer.acceptance, weight, v)
    if left[0] < 0 and not np.any(weight > 0):
        _give_way(dual, q, weight, v)
    rows, paid = dual.rows(v), dual.m * v
    H = dual.bend(v, weight)
    # where answers jump, a row may have no terms at them, but some at what is offered
    scale = np.maximum(np.maximum(point.scale, dual.terms(q, cost)), np.finfo(float).tiny)
    for _ in range(_ROUNDS):
        active = active_rows(dual, point, left) | (left < 0)
        miss = np.where(active, left, 0.0) / scale
        if np.max(np.abs(miss)) <= _CLOSE:
            break
        unit = np.sqrt(np.maximum(np.diag(H)[active], np.finfo(float).tiny))
        with np.errstate(all="ignore"):
            scaled = H[np.ix_(active, active)] / np.outer(unit, unit)
        if not np.all(np.isfinite(scaled)):  # near the ends of the doubles
            break
        change = np.zeros(point.z.size)
        change[active] = np.linalg.lstsq(scaled, left[active] / unit, rcond=None)[0] / unit
        shift = weight * (rows.T @ change[1:] + paid * change[0])
        better = np.clip(q + shift, statement.lowest, statement.highest)
        left_after = dual.left(better, dual.owners.cost(better))
        after = np.where(active, left_after, 0.0) / scale
        if not np.max(np.abs(after)) < np.max(np.abs(miss)):
            break
        q, left = better, left_after
    return q


def _give_way(dual: Dual, q: Floats, weight: Floats, v: Floats) -> None:
    """Let owners move down who all stand at their highest acceptance.

    Where that costs the whole budget and rounding more; changes weight and v.
    """
    held = np.flatnonzero(q > dual.owners.statement.lowest)
    if held.size:
        step = np.minimum(_STEP, q[held] - dual.owners.statement.lowest[held])
        below = q.copy()
        below[held] -= step
        v[held] = (dual.owners.cost(q) - dual.owners.cost(below))[held] / step
        weight[held] = 1.0


def _loosen(dual: Dual, q: Floats, answer: Floats, weight: Floats, v: Floats) -> None:
    """Let owners move too whose answer has no slope where they stand.

    Inside a flat piece, or off their answer; changes weight and v.
    """
    statement = dual.owners.statement
    off = q != np.clip(answer, 0, 1)
    still = np.flatnonzero((weight == 0) & off & (q > statement.lowest) & (q < statement.highest))
    if still.size:
        step = np.minimum(_STEP, statement.highest[still] - q[still])
        above = q.copy()
        above[still] += step
        v[still] = (dual.owners.cost(above) - dual.owners.cost(q))[still] / step
        weight[still] = np.median(weight[weight > 0]) if np.any(weight > 0) else 1.0
