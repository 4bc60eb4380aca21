"""The mass between two points as an integral of the density.

A difference of F would cancel there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.numeric import QUADRATURE, Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_FEWER_NODES, _FEWER_WEIGHTS = np.polynomial.legendre.leggauss(16)
BOTH = np.concatenate([_NODES, _FEWER_NODES])
"""The nodes of two Gauss–Legendre sums on [−1, 1]."""
ROUNDED = 8
"""So many roundings of its first term may be in a difference; sums that agree better replace it."""


def integrate(density: Callable[[Floats], Floats], s: Floats, t: Floats, mass: Floats, head: Floats) -> Floats:
    """Integrate a density from s to t by two Gauss–Legendre sums.

    They have 16 and 24 nodes.

    Parameters
    ----------
    density
        Takes all nodes, shape (40·m,), node by node.
    s, t
        Shape (m,), s ≤ t.
    mass
        What a difference gave, shape (m,); it stands where the sums do not agree.
    head
        The first term of that difference, which bounds its rounding.
    """
    half = 0.5 * (t - s)
    x = np.ravel(np.clip(s + half * (1.0 + BOTH[:, None]), s, t))
    g = np.reshape(density(x), (BOTH.size, s.size))
    fine, coarse = half * (_WEIGHTS @ g[: _NODES.size]), half * (_FEWER_WEIGHTS @ g[_NODES.size :])
    room = QUADRATURE.value * fine + ROUNDED * np.finfo(np.float64).eps * head
    # nodes are rounded to doubles, of which there may be few between s and t
    with np.errstate(invalid="ignore"):
        moved = np.abs(g[_NODES.size - 1] - g[0]) * np.spacing(t)
    return np.where((np.abs(fine - coarse) <= room) & (moved <= room) & np.isfinite(fine), fine, mass)
