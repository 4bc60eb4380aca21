"""OP2 with linear side constraints by column generation.

For where Newton's method does not arrive: ties, jumps, owners who are paid for free.

Each owner's hull C̄, and what she is worth, φ, are replaced by their chords between a few
acceptances, which makes a linear program in the shares of the chords, with one row a constraint.
Its answer is feasible, for chords lie above C̄ and below φ; its multipliers are priced by the
owners themselves, which bounds the optimum from above; and the acceptances that they answer with,
the ends of the pieces that they stand on, and points ever closer around the answer become new ends
of chords (Dantzig and Wolfe 1960).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from smqopt.numeric import Floats
from smqopt.solvers.structured._dual_newton import Dual, DualPoint
from smqopt.solvers.structured._segments import flat_segments

_ROUNDS = 60
_EVEN = 8
"""Even steps at the start."""
_KEPT = 48
"""New points of each owner that are kept; older ones are forgotten."""
_SHRINK = 0.25
"""How much closer the new points around the answer are from round to round."""
_CLOSEST = 2.0**-20
_NARROWEST = 2.0**-24
"""Chords between closer points are left out: their slopes would be rounding."""
_NEAR = 2.0**-20
"""Pieces whose slope is this near to an owner's price are offered to her from end to end."""
_FINE = 2.0**-10
"""How far around a point near the optimum owners have a choice at first."""
_LEAST_PART = 2.0**-4
_FEASIBLE = 1e-10
"""What the linear program is asked for, in its own normalised units."""
_PENALTY, _MORE, _MOST = 2.0**6, 2.0**6, 2.0**36
"""What breaking a row costs, in units of all privacy and of the row's terms: raised while rows stay
broken."""


@dataclass(frozen=True)
class Priced:
    """Multipliers and acceptances of one round."""

    z: Floats
    acceptance: Floats


def price_rounds(dual: Dual, all_privacy: float, start: DualPoint | None = None) -> Iterator[Priced]:
    """Return multipliers and acceptances round by round.

    The caller stops where they are near enough to each other.

    Parameters
    ----------
    dual
        The dual.
    all_privacy
        Σ m_i ε_i.
    start
        A point near the optimum: only owners whose answer is not clear from it then have a choice
        at first, which keeps the program small.
    """
    statement = dual.owners.statement
    lowest, highest = statement.lowest, statement.highest
    if start is not None:  # who must have an offer gets a good part of the one she has there
        least = _LEAST_PART * np.clip(start.answer.acceptance, 0.0, 1.0)
        lowest = np.where(dual.owners.utility.needed, np.maximum(lowest, least), lowest)
    if start is None:
        first = [lowest + (highest - lowest) * (k / _EVEN) for k in range(_EVEN + 1)]
    else:
        first = [np.clip(layer, lowest, highest) for layer in _around(dual, start)]
    costs = [dual.owners.cost(q) for q in first]
    later: list[Floats] = []
    costs_later: list[Floats] = []
    penalty, near = _PENALTY, 1.0 / _EVEN if start is None else _FINE
    size = np.maximum(dual.sizes(), np.finfo(float).tiny)
    for _ in range(_ROUNDS):
        found = _master(dual, np.array(first + later), np.array(costs + costs_later), size, all_privacy, penalty)
        if found is None:
            return
        z, q, broken = found
        yield Priced(z, q)
        if broken:
            penalty = min(penalty * _MORE, _MOST)
        answer = dual.at(z, 0.0).answer
        near = max(near * _SHRINK, _CLOSEST)
        closer = max(near * _SHRINK, _CLOSEST)
        moves = 1.0 if start is None else answer.slope > 0
        new = [q, answer.acceptance, *(q + moves * step for step in (-near, near, -closer, closer))]
        new += _ends(dual, answer.v, q, _NEAR)
        new = [np.clip(one, lowest, highest) for one in new]
        later = (later + new)[-_KEPT:]
        costs_later = (costs_later + [dual.owners.cost(one) for one in new])[-_KEPT:]


def _around(dual: Dual, start: DualPoint) -> list[Floats]:
    """Return the answers at a point, ends of pieces nearby, and points to each side."""
    answer = start.answer
    q, moves = np.clip(answer.acceptance, 0.0, 1.0), answer.slope > 0
    return [q, q - _FINE * moves, q + _FINE * moves, *_ends(dual, answer.v, q, _FINE)]


def _ends(dual: Dual, v: Floats, q: Floats, h: float) -> list[Floats]:
    """Return the ends of the pieces that owners stand on or come to."""
    layers = []
    if dual.owners.jumps:
        near = flat_segments(dual.owners, v / (1.0 + h), v / (1.0 - h))
        inside = ((rows, on.low_acceptance, on.high_acceptance) for rows, on in dual.owners.pieces(q))
        for rows, *ends_of_pieces in ((near.rows, near.start, near.end), *inside):
            for ends in ends_of_pieces:
                layer = q.copy()
                layer[rows] = ends
                layers.append(layer)
    return layers


def _master(
    dual: Dual, points: Floats, costs: Floats, size: Floats, all_privacy: float, penalty: float
) -> tuple[Floats, Floats, bool] | None:
    """Solve the linear program over chords.

    Gives multipliers, acceptances and whether a row stays broken; None where the solver fails.
    """
    order = np.argsort(points, axis=0, kind="stable")
    points, costs = np.take_along_axis(points, order, axis=0), np.take_along_axis(costs, order, axis=0)
    points, costs = _apart(points, costs)
    layer, owner = np.nonzero(np.diff(points, axis=0) > 0)
    width = points[layer + 1, owner] - points[layer, owner]
    slope = (costs[layer + 1, owner] - costs[layer, owner]) / width
    m, k = dual.m[owner], size.size
    budget = sparse.csr_array((m * slope)[np.newaxis, :])
    rows = dual.A[:, owner] + dual.S[:, owner].multiply(slope[np.newaxis, :])
    every = sparse.csr_array(sparse.vstack([budget, rows])).multiply(1.0 / size[:, np.newaxis])
    left = dual.left(points[0], costs[0]) / size
    held = ~dual.equal
    over, under = sparse.eye_array(k, format="csr"), sparse.eye_array(k, format="csr")[:, dual.equal]
    matrix = sparse.csr_array(sparse.hstack([every, -over, under]))
    values = np.array([dual.owners.utility.value(layer_of_points) for layer_of_points in points])
    utility = m * (values[layer + 1, owner] - values[layer, owner]) / width / all_privacy
    answer = linprog(  # type: ignore[call-overload]  # its stubs take no sparse matrix
        np.concatenate([-utility, np.full(k + under.shape[1], penalty)]),
        A_ub=matrix[held],
        b_ub=left[held],
        A_eq=matrix[dual.equal] if dual.equal.any() else None,
        b_eq=left[dual.equal] if dual.equal.any() else None,
        bounds=np.column_stack([np.zeros(matrix.shape[1]), np.append(width, np.full(k + under.shape[1], np.inf))]),
        method="highs",
        options={"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE},
    )
    if answer.x is None:
        return None
    z = np.empty(k)
    z[held] = np.maximum(-answer.ineqlin.marginals, 0.0)
    if dual.equal.any():
        z[dual.equal] = -answer.eqlin.marginals
    q = points[0] + np.bincount(owner, weights=answer.x[: utility.size], minlength=dual.m.size)
    broken = bool(np.any(answer.x[utility.size :] > _FEASIBLE))
    return z * all_privacy / size, np.clip(q, points[0], points[-1]), broken


def _apart(points: Floats, costs: Floats) -> tuple[Floats, Floats]:
    """Merge points that are hardly apart."""
    near_the_top = points > points[-1] - _NARROWEST
    points, costs = np.where(near_the_top, points[-1], points), np.where(near_the_top, costs[-1], costs)
    at = points[0]
    for layer in range(1, len(points)):
        close = (points[layer] - at < _NARROWEST) & (points[layer] < points[-1])
        points[layer] = np.where(close, at, points[layer])
        costs[layer] = np.where(close, costs[layer - 1], costs[layer])
        at = points[layer]
    return points, costs
