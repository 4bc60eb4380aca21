"""The dual minimised where it has kinks.

Newton's method in a box, with every kink in reach taken as it is.

Where owner i's answer jumps by Δq at the slope s of a flat piece, D has the hinge m_i Δq max(0, e_i
− s p_i), and e_i − s p_i is linear in the multipliers. Around a point D is thus

    D(z + d) = D(z) + g·d + ½ d·H d + Σ_j max(0, b_j + a_j·d) + o(|d|²)   where acceptance is smooth
    between jumps,

and the hinges that a box reaches have no error of their own. The least value of this model in the
box is the next point, and the share λ_j of a hinge is how far its owner goes along her piece there:
hardly more owners than rows that bind are left with a share between 0 and 1, unless many are tied.
The box shrinks with the steps, and grows where it holds them up (Conn, Gould and Toint 2000,
section 6.1). Laws without jumps have no hinges, and laws without smooth stretches nothing else.

Where a price p_i may fall to 0 in the box, W(e/p) has no second derivative that would be of use:
there the owner's curve is replaced by chords, as in the method of Dantzig and Wolfe (1960), of
which one ends where she was found last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.numeric import Floats
from smqopt.solvers.structured._chords import chords
from smqopt.solvers.structured._dual_newton import Dual, DualPoint
from smqopt.solvers.structured._hinge_qp import HingeProgram, Lowest
from smqopt.solvers.structured._response import Segments

_ROUNDS = 24
_MOST_HINGES = 1 << 18
"""Boxes with more hinges are made smaller."""
_ROUNDING = 2.0**-48
"""Differences of D below this share of its terms are rounding."""
_GOOD = 0.1
"""The share of the promised decrease that a step must bring for the box not to shrink."""
_GROWS, _SHRINKS = 8.0, 0.25
_AT_THE_EDGE = 0.99
_ROOM = 4.0
"""The next box is so many steps wide at most."""
_LEAST_RADIUS = 2.0**-44
_NONE = -1.0
"""Below the slopes of all pieces, those of atoms at 0 too."""
_LEAST_SIZE = 2.0**-900
"""Smaller rows would overflow when something is divided by them."""
_STILL = 2
"""The search ends after so many rounds that promise nothing."""
_ENDED = 2.0**-20
"""A share so near to 0 or 1 is 0 or 1."""


@dataclass(frozen=True)
class _Hinges:
    """The jumps in reach of a box; arrays of one length J."""

    rows: NDArray[np.intp]
    start: Floats
    """Acceptance before the jump, within the bounds."""
    jump: Floats
    """Δq > 0."""
    taken: Floats
    """The share of it that the owner's answer goes."""
    height: Floats
    """m Δq (e − s p)."""
    uses: sparse.csr_array
    """What the jump uses of each row, shape (k + 1, J)."""
    free: NDArray[np.bool_]
    """Whose price may fall to 0, so that her whole curve stands among the hinges; shape (n′,)."""


def descend(dual: Dual, z: Floats, radius: float, impossible: float) -> Iterator[tuple[DualPoint, Floats]]:
    """Return points and acceptances, round by round.

    The caller stops where they are near enough to each other.

    Parameters
    ----------
    dual
        The dual.
    z
        Where to begin.
    radius
        Half the width of the first box, in units that change D by its own size.
    impossible
        A value of D that no feasible program has; the search ends there.
    """
    least = np.where(dual.equal, -np.inf, 0.0)
    point = dual.at(z, 0.0)
    q, still = np.clip(point.answer.acceptance, 0.0, 1.0), 0
    for _ in range(_ROUNDS):
        box, hinges = _in_reach(dual, point, radius, q)
        size = max(point.size, np.finfo(float).tiny)
        program = _model(dual, point, box, hinges, size)
        found = program.lowest()
        new = dual.at(np.maximum(point.z + box * found.d, least), 0.0)
        q = _acceptance(new, hinges, found)
        yield new, q
        if new.value < impossible:
            return
        promised = program.value(np.zeros(box.size)) - found.value
        brought = (point.value - new.value) / size
        as_good = abs(brought) <= _ROUNDING
        if brought > 0 or as_good:
            point = new
        reached = float(np.max(np.abs(found.d), initial=0.0))
        still = still + 1 if promised <= _ROUNDING and reached < _AT_THE_EDGE else 0
        if brought < _GOOD * promised and not as_good:
            radius *= _SHRINKS
        elif reached >= _AT_THE_EDGE:
            radius *= _GROWS
        else:
            radius = min(radius, max(_ROOM * reached * radius, _LEAST_RADIUS))
        if radius < _LEAST_RADIUS or still >= _STILL:
            return


def _in_reach(dual: Dual, point: DualPoint, radius: float, q: Floats) -> tuple[Floats, _Hinges]:
    """Return the box around a point, and the hinges in its reach.

    q are the acceptances found last.
    """
    owners, m, A, S = dual.owners, dual.m, dual.A, dual.S
    statement, straight = owners.statement, owners.utility.straight
    unit = point.size / np.where(point.scale > 0, point.scale, np.maximum(dual.sizes(), _LEAST_SIZE))
    utility = np.where(straight, owners.utility.slope(statement.highest), 0.0)
    e, p = utility - (A.T @ point.z[1:]) / m, point.price
    while True:
        box = np.where(dual.speaks, radius * unit, 0.0)
        more_e, more_p = (abs(A).T @ box[1:]) / m, box[0] + (S.T @ box[1:]) / m
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lowest = np.where(e > more_e, (e - more_e) / (p + more_p), _NONE)
            highest = np.where(e > -more_e, np.where(p > more_p, (e + more_e) / (p - more_p), np.inf), _NONE)
        if owners.count_between(lowest, highest) <= _MOST_HINGES:
            break
        radius *= 0.5
    free = straight & (highest == np.inf)
    flat = owners.between(lowest, highest)
    every = Segments.join(flat, chords(owners, lowest, flat, free, q))
    start, end = (
        np.clip(at, statement.lowest[every.rows], statement.highest[every.rows]) for at in (every.start, every.end)
    )
    kept = np.flatnonzero((end > start) & straight[every.rows])
    rows, start, jump, s = every.rows[kept], start[kept], (end - start)[kept], every.slope[kept]
    of_rows = A[:, rows] + S[:, rows].multiply(s[np.newaxis, :])
    uses = sparse.vstack([sparse.csr_array((m[rows] * s)[np.newaxis, :]), of_rows]).multiply(jump[np.newaxis, :])
    taken = np.clip((point.answer.acceptance[rows] - start) / jump, 0.0, 1.0)
    height = m[rows] * jump * (e[rows] - s * p[rows])
    return box, _Hinges(rows, start, jump, taken, height, sparse.csr_array(uses), free)


def _model(dual: Dual, point: DualPoint, box: Floats, hinges: _Hinges, size: float) -> HingeProgram:
    """State the model in units of the box and of D's size."""
    slope = point.left + hinges.uses @ hinges.taken
    H = dual.bend(point.answer.v, np.where(hinges.free, 0.0, dual.curvature(point)))
    moves = box > 0
    down = np.where(dual.equal, 1.0, np.minimum(1.0, point.z / np.where(moves, box, 1.0)))
    return HingeProgram(
        g=slope * box / size,
        H=H * np.outer(box, box) / size,
        A=sparse.csr_array(-hinges.uses.multiply((box / size)[:, np.newaxis]).T),
        b=hinges.height / size,
        low=np.where(moves, -down, 0.0),
        high=np.where(moves, 1.0, 0.0),
    )


def _acceptance(point: DualPoint, hinges: _Hinges, found: Lowest) -> Floats:
    """Return the answers at a point, and what shares of jumps of tied owners add."""
    q, rows = np.clip(point.answer.acceptance, 0.0, 1.0), hinges.rows
    share = np.where(found.share < _ENDED, 0.0, np.where(found.share > 1.0 - _ENDED, 1.0, found.share))
    tied = np.zeros(q.size, dtype=np.bool_)
    tied[rows[(share > 0) & (share < 1)]] = True
    taken = np.clip((q[rows] - hinges.start) / hinges.jump, 0.0, 1.0)
    more = np.bincount(rows, weights=hinges.jump * (share - taken), minlength=q.size)
    return np.where(tied, np.clip(q + more, 0.0, 1.0), q)
