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

Multipliers stay positive, and so do prices, as long as they count: each may fall to a part of
itself at most, so that what is of use at a point is of use in the box. At a price of 0 an owner is
at all points of her curve or none, as e_i changes sign: the whole of it is one piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.market import joined_pieces
from smqopt.numeric import Floats, HingeProgram, Lowest
from smqopt.solvers.structured._dual import Dual, DualPoint
from smqopt.valuation import FlatPieces

_ROUNDS = 48
_MOST_HINGES = 1 << 18
"""Boxes with more hinges are made smaller, as far as boxes go."""
_ROUNDING = 2.0**-48
"""Differences of D below this share of its terms are rounding."""
_GOOD = 0.1
"""The share of the promised decrease that a step must bring for the box not to shrink."""
_GROWS, _SHRINKS = 8.0, 0.25
"""The box grows ever faster while it holds steps up."""
_AT_THE_EDGE = 0.99
_ROOM = 4.0
"""The next box is so many steps wide at most."""
_LEAST_RADIUS, _MOST_RADIUS = 2.0**-44, 2.0**64
"""From wider boxes D has no digits left but those of roundings."""
_NONE = -1.0
"""Below the slopes of all pieces, those of atoms at 0 too."""
_TINY = float(np.finfo(np.float64).tiny)
_LEAST_SIZE = 2.0**-900
"""Smaller rows would overflow when something is divided by them."""
_FALL, _FAINT = 15.0 / 16.0, 2.0**-20
"""By how much of itself a multiplier may fall, and what it must count for less than to go."""
_STILL = 2
"""The search ends after so many rounds that promise nothing."""
_NEAR = 2.0**-40
"""Steps that promise more, relatively, are not the last."""


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
    terms: Floats
    """The sum of its absolute terms."""
    uses: sparse.csr_array
    """What the jump uses of each row, shape (k + 1, J)."""


def descend(dual: Dual, z: Floats, radius: float, impossible: float) -> Iterator[tuple[DualPoint, Floats | None]]:
    """Return points, and acceptances where they are not the answers there.

    From where a step promises little, and the last one. The caller stops where they are near enough
    to each other.

    `radius` is half the width of the first box, in units that change D by its own size;
    `impossible` is a value of D that no feasible program has: the search ends there.
    """
    least = np.where(dual.equal, -np.inf, 0.0)
    point = dual.at(z)
    still, grows = 0, _GROWS
    for _ in range(_ROUNDS):
        radius, box, down, hinges = _in_reach(dual, point, radius)
        size = max(point.size, _TINY)
        program = _model(dual, point, box, down, hinges, size)
        found = program.lowest(_FAINT)
        new = dual.at(np.maximum(point.z + box * found.d, least))
        q, drawn = _acceptance(new, hinges, program, found)
        promised = program.value(np.zeros(box.size)) - found.value
        near = promised <= _NEAR
        if near or new.value < impossible:
            yield new, q if drawn else None
        if new.value < impossible:
            return
        brought = (point.value - new.value) / size
        as_good = abs(brought) <= _ROUNDING
        if brought > 0 or as_good:
            point = new
        reached = float(np.max(np.abs(found.d), initial=0.0))
        still = still + 1 if promised <= _ROUNDING and reached < _AT_THE_EDGE else 0
        if brought < _GOOD * promised and not as_good:
            radius, grows = _SHRINKS * radius, _GROWS
        elif reached >= _AT_THE_EDGE:
            radius, grows = grows * radius, _GROWS * grows
        else:
            radius = min(radius, max(_ROOM * reached * radius, _LEAST_RADIUS))
        if not _LEAST_RADIUS <= radius <= _MOST_RADIUS or still >= _STILL:
            break
    if not near:
        yield new, q


@np.errstate(over="ignore", invalid="ignore")
def _in_reach(dual: Dual, point: DualPoint, radius: float) -> tuple[float, Floats, Floats, _Hinges]:
    """Return a box around a point, how far multipliers may fall, and hinges in reach.

    First its radius, smaller where there would be too many hinges.
    """
    owners, m, A, S = dual.owners, dual.m, dual.A, dual.S
    statement, straight = owners.statement, owners.utility.straight
    unit = point.size / np.where(point.scale > 0, point.scale, np.maximum(dual.sizes(), _LEAST_SIZE))
    utility = np.where(straight, owners.utility.slope(statement.highest), 0.0)
    z = np.where(dual.equal, np.inf, point.z)
    most = np.where(z * point.scale > _FAINT * point.size, _FALL * z, z)
    e, p = utility - (A.T @ point.z[1:]) / m, point.price
    low, high, nothing = statement.lowest, statement.highest, p == 0
    slope = (owners.cost(high) - owners.cost(low)) / np.maximum(high - low, _TINY) if nothing.any() else p
    while True:
        box = np.where(dual.speaks, radius * unit, 0.0)
        down = np.minimum(box, most)
        more_e, more_p, less_p = (abs(A).T @ box[1:]) / m, *(b[0] + (S.T @ b[1:]) / m for b in (box, down))
        with np.errstate(divide="ignore"):
            lowest = np.where(e > more_e, (e - more_e) / (p + more_p), _NONE)
            highest = np.where(e > -more_e, np.where(p > less_p, (e + more_e) / (p - less_p), np.inf), _NONE)
        free = np.flatnonzero(nothing & (lowest <= slope) & (highest > 0))
        if owners.count_between(lowest, highest) + free.size <= _MOST_HINGES or radius < _LEAST_RADIUS:
            break
        radius *= 0.5
    pieces = owners.between(lowest, np.where(nothing, lowest, highest))
    at_nothing = np.zeros(free.size)
    whole = FlatPieces(free, at_nothing, at_nothing, low[free], high[free], slope[free])
    every = joined_pieces([pieces, whole])
    start, end = (
        np.clip(at, low[every.owner], high[every.owner]) for at in (every.low_acceptance, every.high_acceptance)
    )
    kept = np.flatnonzero((end > start) & straight[every.owner])
    rows, start, jump, s = every.owner[kept], start[kept], (end - start)[kept], every.slope[kept]
    of_rows = A[:, rows] + S[:, rows].multiply(s[np.newaxis, :])
    uses = sparse.vstack([sparse.csr_array((m[rows] * s)[np.newaxis, :]), of_rows]).multiply(jump[np.newaxis, :])
    taken = np.clip((point.answer.acceptance[rows] - start) / jump, 0.0, 1.0)
    height = m[rows] * jump * (e[rows] - s * p[rows])
    terms = m[rows] * jump * ((np.abs(utility) + (abs(A).T @ np.abs(point.z[1:])) / m)[rows] + s * p[rows])
    return radius, box, down, _Hinges(rows, start, jump, taken, height, terms, sparse.csr_array(uses))


@np.errstate(over="ignore", invalid="ignore")
def _model(dual: Dual, point: DualPoint, box: Floats, down: Floats, hinges: _Hinges, size: float) -> HingeProgram:
    """State the model in units of the box and of D's size."""
    slope = point.left + hinges.uses @ hinges.taken
    H = dual.bend(point.answer.v, dual.curvature(point))
    moves = box > 0
    return HingeProgram(
        g=slope * box / size,
        H=H * box[:, np.newaxis] * box / size,
        A=sparse.csr_array(-hinges.uses.multiply((box / size)[:, np.newaxis]).T),
        b=hinges.height / size,
        low=-down / np.where(moves, box, 1.0),
        high=np.where(moves, 1.0, 0.0),
    )


@np.errstate(over="ignore")
def _acceptance(point: DualPoint, hinges: _Hinges, program: HingeProgram, found: Lowest) -> tuple[Floats, bool]:
    """Return the answers at a point, and what shares of jumps of tied owners add.

    Also whether there are such owners: their hinges are bent by less than shares.
    """
    q, rows = np.clip(point.answer.acceptance, 0.0, 1.0), hinges.rows
    bent = (program.b + program.A @ found.d) / np.maximum(hinges.terms / max(point.size, _TINY), _TINY)
    share = np.where(found.share < -bent, 0.0, np.where(1.0 - found.share < bent, 1.0, found.share))
    tied = np.zeros(q.size, dtype=np.bool_)
    tied[rows[(share > 0) & (share < 1)]] = True
    taken = np.clip((q[rows] - hinges.start) / hinges.jump, 0.0, 1.0)
    more = np.bincount(rows, weights=hinges.jump * (share - taken), minlength=q.size)
    return np.where(tied, np.clip(q + more, 0.0, 1.0), q), bool(tied.any())
