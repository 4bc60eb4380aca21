"""The lower convex hull of points, of many owners at once: the one implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Indices

ROUNDS = 8
"""So often all points above the chord of their neighbours go at once."""


def lower_hull(owner: Indices, q: NDArray[Any], cost: NDArray[Any]) -> Indices:
    """Return the places of the vertices of each owner's lower convex hull.

    A point on or above the chord of its two neighbours is no vertex, whatever becomes of the
    neighbours: all such points go at once, until none is left.

    Parameters
    ----------
    owner, q, cost
        Shape (m,): points by owner and then by q, which does not fall; of points with one q only
        the cheapest counts. Numbers may be exact (`Fraction`).

    Examples
    --------
    >>> lower_hull(np.zeros(4, int), np.array([0.0, 0.3, 0.6, 1.0]), np.array([0.0, 0.5, 0.3, 1.0])).tolist()
    [0, 2, 3]
    """
    order = np.lexsort((cost, q, owner)) if q.dtype != object else np.arange(q.size)
    x, whose = q[order], owner[order]
    first = np.ones(order.size, dtype=np.bool_)
    first[1:] = (whose[1:] != whose[:-1]) | (x[1:] != x[:-1])
    kept = order[first]
    for _ in range(ROUNDS):
        x, y, whose = q[kept], cost[kept], owner[kept]
        inner = np.flatnonzero(whose[2:] == whose[:-2]) + 1
        rise = (y[inner] - y[inner - 1]) * (x[inner + 1] - x[inner])
        above = inner[(rise >= (y[inner + 1] - y[inner]) * (x[inner] - x[inner - 1])).astype(np.bool_)]
        if above.size == 0:
            return np.asarray(kept)
        kept = np.delete(kept, above)
    # where few points go at a time, one after the other is faster (Andrew 1979)
    x, y, whose = q[kept].tolist(), cost[kept].tolist(), owner[kept].tolist()
    hull: list[int] = []
    for k in range(len(x)):
        while len(hull) > 1 and whose[hull[-2]] == whose[k]:
            i, j = hull[-2:]
            if (y[j] - y[i]) * (x[k] - x[i]) < (y[k] - y[i]) * (x[j] - x[i]):
                break
            hull.pop()
        hull.append(k)
    return np.asarray(kept[hull])
