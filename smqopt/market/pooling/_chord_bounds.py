"""How far a cdf may leave its chord between two prices, from how it bends.

A law is regular exactly where 1/F is convex: C(q) = q F⁻¹(q) is convex where its perspective u
C(1/u) = F⁻¹(1/u) is, and that falls, so that its inverse 1/F is convex too. Then 1/F lies below its
chord and above its tangents, which bounds F from both sides to second order in the width. So do
chord and tangents of F itself, where the density rises or falls. Of any other law F rises, which is
a bound to first order.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.valuation import (
    Discrete,
    PiecewiseUniform,
    PiecewiseUniformByOwner,
    PointMass,
    Regular,
    Uniform,
    Valuation,
)

_MOST_VERDICTS = 64
"""Of a family that is not regular as a whole, so many laws are asked one by one."""


class Bend(IntEnum):
    """What is known of F between two knots of a law."""

    CONSTANT = 0
    STRAIGHT = 1
    REGULAR = 2
    """1/F is convex."""
    MONOTONE_DENSITY = 3
    """F is convex, or concave."""
    RISING = 4
    """Nothing else."""


def bends(law: Valuation, size: int) -> Indices:
    """Say what is known of the laws of a family, shape (size,).

    Parameters
    ----------
    law
        Common, or `size` laws.
    size
        How many laws are asked for.
    """
    if isinstance(law, Discrete | PointMass):
        return np.full(size, Bend.CONSTANT, dtype=np.intp)
    if isinstance(law, Uniform | PiecewiseUniform | PiecewiseUniformByOwner):
        return np.full(size, Bend.STRAIGHT, dtype=np.intp)
    if isinstance(law.regularity(), Regular):
        return np.full(size, Bend.REGULAR, dtype=np.intp)
    if law.turning_point() is not None:
        return np.full(size, Bend.MONOTONE_DENSITY, dtype=np.intp)
    if law.size is None or not 1 < size <= _MOST_VERDICTS:
        return np.full(size, Bend.RISING, dtype=np.intp)
    return np.concatenate([bends(law.take(np.array([place])), 1) for place in range(size)])


def knots(law: Valuation, bend: Indices) -> tuple[Indices, Floats]:
    """Return the prices between which what `bends` says holds.

    The ends of the supports, jumps, and where a density breaks, or turns if that is what is known.

    Parameters
    ----------
    law
        Common, or of several owners.
    bend
        What `bends` says of each.

    Returns
    -------
    place, price
        The number of the law, from 0, and a price in currency; arrays of one length.
    """
    size = bend.size
    every = np.arange(size, dtype=np.intp)
    if isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner):
        quadratics = law.table.quadratics
        which = law.which if isinstance(law, PiecewiseUniformByOwner) else np.zeros(size, dtype=np.intp)
        first, count = quadratics.start[which], np.diff(quadratics.start)[which]
        place = np.repeat(every, count)
        arc = np.arange(place.size) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        return np.tile(place, 2), np.concatenate([quadratics.low[arc], quadratics.high[arc]])
    if isinstance(law, Discrete):
        return np.repeat(every, law.values.size), np.tile(law.values, size)
    if isinstance(law, PointMass):
        return every, np.broadcast_to(np.asarray(law.value, dtype=np.float64), size).copy()
    ends = [np.broadcast_to(np.asarray(end, dtype=np.float64), size) for end in (law.low, law.high)]
    turn = law.turning_point()
    if turn is None:
        return np.tile(every, 2), np.concatenate(ends)
    at = np.broadcast_to(turn, size)
    inside = (at > ends[0]) & (at < ends[1]) & (bend == Bend.MONOTONE_DENSITY)
    return np.concatenate([every, every, every[inside]]), np.concatenate([*ends, at[inside]])


def off_chord(
    bend: Indices, width: Floats, F: tuple[Floats, Floats], f: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Bound how far F rises above its chord between two prices, and falls below it.

    In probability.

    Parameters
    ----------
    bend
        A `Bend` each.
    width
        Of the step between the prices, which lie between two neighbouring knots; in currency.
    F
        F at the lower price, and at the upper one or its limit from below.
    f
        The density there, one-sided; it need be right only where F bends in a known way.
    """
    (F0, F1), (f0, f1) = F, f
    most = np.maximum(F1 - F0, 0.0)
    up, down = np.zeros(most.shape), np.zeros(most.shape)
    for kind, bounds in ((Bend.REGULAR, _reciprocal), (Bend.MONOTONE_DENSITY, _tangents)):
        at = np.flatnonzero(bend == kind)
        if at.size:
            up[at], down[at] = bounds(width[at], F0[at], F1[at], f0[at], f1[at])
    rising = bend == Bend.RISING
    # where rounding, or an end at which F vanishes or f is infinite, leaves no number, F rises
    up, down = (np.where(np.isfinite(e) & ~rising, np.clip(e, 0.0, most), most) for e in (up, down))
    curved = bend >= Bend.REGULAR
    return np.where(curved, up, 0.0), np.where(curved, down, 0.0)


def _reciprocal(w: Floats, F0: Floats, F1: Floats, f0: Floats, f1: Floats) -> tuple[Floats, Floats]:
    """Bound F where 1/F is convex.

    The chord of 1/F bounds F from below, by (√F₁ − √F₀)² at most below its own chord. The tangents
    of 1/F bound F from above, by F₀²/(F₀ − f₀x) and F₁²/(F₁ + f₁(w − x)), both convex in x: before
    any x at which they are told apart the first one, and after it the second one, leaves the chord
    most at that x.
    """
    with np.errstate(all="ignore"):
        slope = (F1 - F0) / w
        a, b = F0 / f0, F1 / f1  # x at which both are equal: F₀a(b + w − x) = F₁b(a − x)
        x = np.clip((F1 - F0) * a * b / (F1 * b - F0 * a) - F0 * a * w / (F1 * b - F0 * a), 0.0, w)
        x = np.where(F0 > 0, np.where(np.isnan(x), 0.5 * w, x), 0.0)
        chord = F0 + slope * x
        left = np.where((F0 > 0) & (f0 * x < F0), F0 * F0 / (F0 - f0 * x), np.where(x > 0, np.inf, F0)) - chord
        right = F1 * F1 / (F1 + f1 * (w - x)) - chord
        return np.maximum(left, right), (np.sqrt(F1) - np.sqrt(F0)) ** 2


def _tangents(w: Floats, F0: Floats, F1: Floats, f0: Floats, f1: Floats) -> tuple[Floats, Floats]:
    """Bound F between its chord and the tangents at both ends.

    They meet w (s − f₀)(f₁ − s)/(f₁ − f₀) below or above the chord, s its slope.
    """
    with np.errstate(all="ignore"):
        s = (F1 - F0) / w
        apart = np.abs(f1 - f0)
        # where both densities are equal to rounding so is s; where one is infinite the other one's
        # tangent is left
        off = np.where(apart > 0, w * np.abs(s - f0) * np.abs(f1 - s) / apart, 0.0)
        off = np.where(np.isinf(f0), w * np.abs(s - f1), np.where(np.isinf(f1), w * np.abs(s - f0), off))
    rises = f1 >= f0
    return np.where(rises, 0.0, off), np.where(rises, off, 0.0)
