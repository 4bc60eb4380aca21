"""The straight segments of their hulls that owners may come to.

Flat pieces, and chords along the rest where a price may fall to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Indices
from smqopt.solvers.structured._response import Owners, counted_pieces
from smqopt.valuation import Ironed, iron

_NARROWEST = 2.0**-30
"""Chords over less acceptance are left out."""
_CHORDS, _MOST_CHORDS = 16, 1 << 17
"""Chords along a stretch between two flat pieces, and about how many of all owners together."""


@dataclass(frozen=True)
class Segments:
    """Segments of the hulls of C; arrays of one length. An owner may have several."""

    rows: Indices
    start: Floats
    """In acceptance."""
    end: Floats
    slope: Floats
    """In currency."""

    def join(self, other: Segments) -> Segments:
        """Return both."""
        names = ("rows", "start", "end", "slope")
        return Segments(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


def how_many(owners: Owners, lowest: Floats, highest: Floats) -> int:
    """Count the flat pieces with slopes between two v of each owner, shape (n′,) each."""
    return sum(int(np.sum(count)) for *_, count in _pieces_ahead(owners, lowest, highest))


def flat_segments(owners: Owners, lowest: Floats, highest: Floats) -> Segments:
    """Return the flat pieces whose slope lies between two v of each owner."""
    found = Segments(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), np.empty(0))
    for law, rows, start, count in _pieces_ahead(owners, lowest, highest):
        owner, piece = counted_pieces(law, start, count)
        on = law.pieces
        of_part = Segments(rows[owner], on.low_acceptance[piece], on.high_acceptance[piece], on.slope[piece])
        found = found.join(of_part)
    return found


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


def _pieces_ahead(
    owners: Owners, lowest: Floats, highest: Floats
) -> Iterator[tuple[Ironed, Indices, Indices, Indices]]:
    """Return each part's rows with pieces, how many come before and are between."""
    for part in owners.parts:
        if isinstance(part.law, Ironed) and len(part.law.pieces):
            rows = np.arange(owners.n, dtype=np.intp)[part.owners]
            start = part.law.count_passed(lowest[rows])
            yield part.law, rows, start, np.maximum(part.law.count_passed(highest[rows]) - start, 0)


def _in_order(owner: Indices, acceptance: Floats) -> tuple[Indices, Floats]:
    order = np.lexsort((acceptance, owner))
    return owner[order], acceptance[order]
