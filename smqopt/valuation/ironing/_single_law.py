"""The flat pieces of the convex hull of a common law's cost curve.

C has slope J(θ) in acceptance, so it is convex where J rises. The hull of C through a grid of
thresholds shows where it is not; each flat piece is then made exact by one equation. With s its
slope, θ₁(s) the last threshold of the rising stretch before it with J ≤ s, and θ₂(s) the first of
the rising stretch after it with J ≥ s, the gap

    g(s) = C(q₂(s)) − C(q₁(s)) − s (q₂(s) − q₁(s))

falls in s with slope −(q₂ − q₁), whether the ends are smooth, at a jump of J, or at the end of the
support; its root is the slope of the hull (Myerson 1981, section 6, for the seller). What the grid
does not show is not found: it has `GRID` even steps in θ and in q and geometric ones towards both
ends, and a certificate that rests on it is numerical.
"""

from __future__ import annotations

import weakref
from itertools import pairwise

import numpy as np

from smqopt.numeric import Floats, increasing_root
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._ironed_law import Ironed
from smqopt.valuation.ironing._monotone_interval import threshold_on_stretch
from smqopt.valuation.ironing._per_owner import flat_pieces_of_owners
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._verdict import Regular

GRID = 4096
"""Even steps in the middle of the support."""
TAIL_GRID = 1024
"""Geometric steps towards each end."""
TAIL = 2.0**-40
"""How near the ends the geometric steps come, in widths."""
ROUNDING = 2.0**-44
"""A virtual cost that falls by less than this, relatively, between two thresholds of the grid is
rounding, and no fall."""


def flat_pieces(law: Valuation) -> FlatPieces:
    """Find the flat pieces of the hull of a common law's cost curve.

    Parameters
    ----------
    law
        A common law with a density; a law that knows its own pieces is asked for them.

    Returns
    -------
    FlatPieces
        Ends to full accuracy for every piece that the grid shows.
    """
    own = getattr(law, "flat_pieces", None)
    if own is not None:
        pieces = own()
        assert isinstance(pieces, FlatPieces)  # noqa: S101
        return pieces
    theta = _grid(law)
    q = law.cdf(theta)
    theta, q = _distinct(theta, q)
    J = law.virtual_cost(theta)
    falls = np.concatenate([[0], np.cumsum(J[1:] < J[:-1] * (1.0 - ROUNDING))])
    if falls[-1] == 0:
        return FlatPieces.none()
    vertices = lower_hull(q, theta * q)
    edges = [(a, b) for a, b in pairwise(vertices) if falls[b] > falls[a]]
    slopes = dict(zip(vertices, np.diff(theta[vertices] * q[vertices]) / np.diff(q[vertices]), strict=False))
    before = {b: float(slopes[a]) for a, b in pairwise(vertices)}
    highest = float(np.max(J, where=np.isfinite(J), initial=float(theta[-1])))
    found = [
        _refined(law, theta, J, a, b, (before.get(a, float(theta[0])), float(slopes.get(b, highest))), highest)
        for a, b in edges
    ]
    columns = np.array(found).T
    return FlatPieces(np.zeros(len(found), dtype=np.intp), *columns)


def iron(law: Valuation) -> Valuation | Ironed:
    """Return what answers a price for a law.

    The law itself where C is convex, else the law with its flat pieces.

    Parameters
    ----------
    law
        Of one family (see `Valuation.parts`); common, or one an owner.
    """
    if law not in _IRONED:
        _IRONED[law] = _iron(law)
    found = _IRONED[law]
    return law if found is None else Ironed(law, *found)


_IRONED: weakref.WeakKeyDictionary[Valuation, tuple[FlatPieces, int] | None] = weakref.WeakKeyDictionary()
"""What was found, law by law; laws do not change."""


def _iron(law: Valuation) -> tuple[FlatPieces, int] | None:
    if isinstance(law.regularity(), Regular):
        return None
    if law.size is None or getattr(law, "flat_pieces", None) is not None:
        pieces = flat_pieces(law)
        return (pieces, law.size or 1) if len(pieces) else None
    if not law.parameters:
        pieces = flat_pieces_of_owners(law)
        return (pieces, law.size) if len(pieces) else None
    rows = np.column_stack([np.broadcast_to(np.asarray(law.arguments[name]), (law.size,)) for name in law.parameters])
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)  # alike owners are ironed once
    pieces = flat_pieces_of_owners(law.take(first)).take(which.ravel(), first.size)
    return (pieces, law.size) if len(pieces) else None


def lower_hull(q: Floats, cost: Floats) -> list[int]:
    """Return the vertices of the lower convex hull of points (Andrew 1979).

    Examples
    --------
    >>> lower_hull(np.array([0.0, 0.3, 0.6, 1.0]), np.array([0.0, 0.5, 0.3, 1.0]))
    [0, 2, 3]
    """
    x, y = q.tolist(), cost.tolist()
    hull: list[int] = []
    for k in range(len(x)):
        while len(hull) > 1:
            i, j = hull[-2], hull[-1]
            above = (y[j] - y[i]) * (x[k] - x[i]) - (y[k] - y[i]) * (x[j] - x[i])
            if above <= 0:
                break
            hull.pop()
        hull.append(k)
    return hull


def _grid(law: Valuation) -> Floats:
    low, high = float(np.ravel(law.low)[0]), float(np.ravel(law.high)[0])
    even = np.linspace(0.0, 1.0, GRID + 1)
    tail = np.geomspace(TAIL, 1.0 / GRID, TAIL_GRID)
    share = np.unique(np.concatenate([even, tail, 1.0 - tail]))
    theta = low + (high - low) * share
    quantiles = np.interp(even, law.cdf(theta), theta)  # even steps in q, roughly
    theta = np.unique(np.concatenate([theta, quantiles]))
    return theta[(theta >= low) & (theta <= high)]


def _distinct(theta: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Keep, of the thresholds with one acceptance, the cheapest."""
    keep = np.concatenate([[True], np.diff(q) > 0])
    return theta[keep], q[keep]


def _refined(
    law: Valuation, theta: Floats, J: Floats, a: int, b: int, around: tuple[float, float], highest: float
) -> tuple[float, ...]:
    """Make the flat piece between two hull vertices exact.

    `around` are two slopes between which its own should lie.
    """
    left = slice(_last(J, a, -1, rising=False), _last(J, a, 1, rising=True) + 1)
    right = slice(_last(J, b, -1, rising=False), _last(J, b, 1, rising=True) + 1)

    def ends(s: Floats) -> tuple[Floats, Floats]:
        return _inverse(law, s, theta[left], J[left]), _inverse(law, s, theta[right], J[right])

    def gap(s: Floats, _: object = None) -> Floats:
        one, two = ends(s)
        q_one, q_two = law.cdf(one), law.cdf(two)
        return np.asarray(s * (q_two - q_one) - (two * q_two - one * q_one))

    bottom, top = np.array([around[0]]), np.array([around[1]])
    if not (gap(bottom)[0] <= 0 <= gap(top)[0]):
        bottom, top = theta[:1], np.array([highest])
    if not gap(top)[0] >= 0:  # C jumps over a gap in the support: its slope there is that of a chord
        one, two = theta[left][-1:], theta[right][-1:]
        q_one, q_two = law.cdf(one), law.cdf(two)
        with np.errstate(all="ignore"):
            chord = two + (two - one) * q_one / (q_two - q_one)
        top = np.where(chord < np.inf, np.maximum(top, 2.0 * chord), top)
    slope = increasing_root(gap, bottom, top)
    one, two = ends(slope)
    q_one, q_two = law.cdf(one), law.cdf(two)
    return float(one[0]), float(two[0]), float(q_one[0]), float(q_two[0]), float(slope[0])


def _last(J: Floats, k: int, step: int, *, rising: bool) -> int:
    """Go from k in steps as long as J does not turn."""
    while 0 <= k + step < J.size and (J[k + step] > J[k] if rising else J[k + step] < J[k]):
        k += step
    return k


def _inverse(law: Valuation, s: Floats, theta: Floats, J: Floats) -> Floats:
    """Return the threshold at which J is s, clipped to a rising interval."""
    k = np.searchsorted(J, s)
    low, high = theta[np.clip(k - 1, 0, theta.size - 1)], theta[np.clip(k, 0, theta.size - 1)]
    return threshold_on_stretch(law, s, low, high)
