"""Chords along owners' hulls, where a price may fall to 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Indices
from smqopt.solvers.structured._response import Owners, Segments
from smqopt.valuation import iron

_NARROWEST = 2.0**-30
"""Chords over less acceptance are left out."""
_CHORDS, _MOST_CHORDS = 16, 1 << 17
"""Chords along a stretch between two flat pieces, and about how many of all owners together."""


def chords(owners: Owners, lowest: Floats, flat: Segments, free: NDArray[np.bool_], near: Floats) -> Segments:
    """Return chords along owners' hulls between flat pieces, from a v to the top.

    Parameters
    ----------
    owners
        n′ of them.
    lowest
        v, shape (n′,).
    flat
        The flat pieces from there on.
    free
        Of whom chords are wanted, shape (n′,).
    near
        Acceptances at which chords are to end, so that they are exact there; shape (n′,).
    """
    some, laws = np.flatnonzero(free), owners.statement.reduced.valuation
    if some.size == 0:
        return Segments(some, np.empty(0), np.empty(0), np.empty(0))
    first = np.empty(some.size)
    for part, index in laws.take(some).parts():
        v = lowest[some][index]
        first[index] = np.where(v < 0, 0.0, iron(part).offer(np.maximum(v, 0.0))[1])
    mine = free[flat.rows]
    passed = flat.rows[mine]
    owner, start = _in_order(np.append(some, passed), np.append(first, flat.end[mine]))
    _, end = _in_order(np.append(passed, some), np.append(flat.start[mine], np.ones(some.size)))
    wide = np.flatnonzero(end - start > _NARROWEST)
    owner, start, end = owner[wide], start[wide, np.newaxis], end[wide, np.newaxis]
    steps = np.arange(1 + max(2, min(_CHORDS, _MOST_CHORDS // max(wide.size, 1))))
    count, at = steps[-1], near[owner][:, np.newaxis]
    nearest = np.clip(np.rint((at - start) / (end - start) * count), 1, count - 1)
    ends = np.where((steps == nearest) & (at > start) & (at < end), at, start + (end - start) * (steps / count))
    every = np.repeat(owner, steps.size)
    cost = (ends.ravel() * laws.take(every).ppf(ends.ravel())).reshape(ends.shape)
    width, rise = np.diff(ends), np.diff(cost)
    kept = width > 0
    return Segments(
        every.reshape(ends.shape)[:, 1:][kept], ends[:, :-1][kept], ends[:, 1:][kept], rise[kept] / width[kept]
    )


def _in_order(owner: Indices, acceptance: Floats) -> tuple[Indices, Floats]:
    order = np.lexsort((acceptance, owner))
    return owner[order], acceptance[order]
