"""From multipliers to offers.

Acceptance is moved along the owners' answers until every active row is met.

Where acceptance is steep in the multipliers, no double holds multipliers that meet a row to the
last digits; moving acceptance itself does. The move is the primal half of a Newton step, and
changes the objective in the second order alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Offers, joined_pieces, offers_within_pieces
from smqopt.numeric import ACCEPTANCE, Floats, Indices
from smqopt.solvers.structured._dual import Dual, DualPoint
from smqopt.valuation import FlatPieces

_ROUNDS = 4
_ACTIVE = 2.0**-24
_CLOSE = 2.0**-51
"""Residuals below this share of a row's terms are rounding."""
_COARSE = 2.0**-40
"""Rows moved by less, relative to their terms, by the rounding of prices stay as they are."""
_STEP = 2.0**-24
"""Step in acceptance for the slope of a hull."""


def recover(dual: Dual, point: DualPoint, acceptance: Floats | None = None) -> Offers:
    """Make offers of the owners' answers, moved to meet the active rows.

    They start from given acceptances, shape (n′,), by default the answers at the point.
    """
    answer = point.answer
    moved = _meet_rows(dual, point, acceptance)
    at = np.union1d(np.flatnonzero(moved != answer.acceptance), _off_bounds(dual, answer.thresholds, moved))
    theta, q = answer.thresholds.copy(), answer.acceptance.copy()
    reduced = dual.owners.statement.reduced
    if at.size:
        law = reduced.valuation.take(at)
        theta[at] = dual.owners.prices(moved)[at]
        q[at] = np.where(moved[at] > 0, law.cdf(theta[at]), 0.0)  # an atom at low is not sold by no offer
    pieces = list(dual.owners.pieces(moved))
    if at.size:
        for on in pieces:
            at = np.setdiff1d(at, on.owner)
        pieces.append(_between_doubles(dual, at, theta, q, moved))
    return offers_within_pieces(theta, q, moved, joined_pieces(pieces))


def _off_bounds(dual: Dual, theta: Floats, q: Floats) -> Indices:
    """Return who stands at a bound of acceptance that no double's F is near to."""
    statement = dual.owners.statement
    held = np.flatnonzero(((q == statement.lowest) | (q == statement.highest)) & (q > 0) & (q < 1))
    if not held.size:
        return held
    for on in dual.owners.pieces(q):
        held = np.setdiff1d(held, on.owner)
    F = statement.reduced.valuation.take(held).cdf(theta[held])
    return held[np.abs(F - q[held]) > ACCEPTANCE.value / 2]


def _between_doubles(dual: Dual, at: Indices, theta: Floats, q: Floats, moved: Floats) -> FlatPieces:
    """Return pieces between two doubles for rows whose acceptance no one price has.

    None where all their roundings hardly move a row: a tiny budget may spend all on a few of them.
    """
    change, now = np.zeros((2, q.size)), dual.owners.prices(moved) * moved
    change[:, at] = (moved - q)[at], (now - theta * q)[at]
    off = np.abs(dual.left(*change) - dual.left(*np.zeros_like(change)))
    if np.all(off <= _COARSE * dual.terms(moved, now)):
        return FlatPieces.none()
    at = at[np.abs(change[0, at]) > _COARSE * moved[at]]
    law = dual.owners.statement.reduced.valuation.take(at)
    low = np.where(q[at] > moved[at], np.nextafter(theta[at], 0.0), theta[at])
    high = np.nextafter(low, np.inf)
    below, above = law.cdf(low), law.cdf(high)
    kept = (below <= moved[at]) & (moved[at] < above) & (low >= law.low) & (high <= law.high)
    columns = (low, high, below, above, (high * above - low * below) / np.where(kept, above - below, 1.0))
    return FlatPieces(at[kept], *(column[kept] for column in columns))


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
        cost, left = answer.spend, point.left
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
        v[still] = np.nan
        for on in dual.owners.pieces(q):
            v[on.owner] = np.where(np.isnan(v[on.owner]), on.slope, v[on.owner])
        steep = still[np.isnan(v[still])]
        if steep.size:
            step = np.minimum(_STEP, statement.highest[steep] - q[steep])
            above = q.copy()
            above[steep] += step
            v[steep] = (dual.owners.cost(above) - dual.owners.cost(q))[steep] / step
        weight[still] = np.median(weight[weight > 0]) if np.any(weight > 0) else 1.0
