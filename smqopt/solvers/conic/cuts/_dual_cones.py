"""How far a point lies outside of the dual of a product of cones.

In Clarabel's order: zero, ≥ 0, second-order, semidefinite, exponential, power.

A point z of the dual cone K* proves ⟨z, s⟩ ≥ 0 for all s ∈ K, whoever found it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from smqopt.numeric import Floats


def blocks_of(dims: Any) -> list[slice]:
    """Return the rows of each cone of cvxpy's `ConeDims`.

    The zero cone and ≥ 0 row by row.
    """
    sizes = [1] * (dims.zero + dims.nonneg)
    sizes += list(dims.soc)
    sizes += [n * (n + 1) // 2 for n in dims.psd]
    sizes += [3] * (dims.exp + len(dims.p3d))
    sizes += [len(powers) + 1 for powers in dims.pnd]
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def push_inside(z: Floats, dims: Any) -> None:
    """Move z, in place, into its cones, where it sticks out by a rounding.

    Of second-order and exponential ones: tails become shorter; of (u, v, w) the middle
    grows, which stands for 1 in exp(x).
    """
    blocks, bounds = blocks_of(dims), dims.zero + dims.nonneg
    for rows in blocks[bounds : bounds + len(dims.soc)]:
        head, tail = float(z[rows][0]), z[rows][1:]
        z[rows][1:] *= min(1.0, max(head, 0.0) / (float(np.linalg.norm(tail)) or 1.0))
    first = bounds + len(dims.soc) + len(dims.psd)
    for rows in blocks[first : first + dims.exp]:
        u, v, w = z[rows].tolist()
        if u < 0 < w:
            z[rows][1] = max(v, u + u * np.log(w / -u))


def outside(z: Floats, dims: Any) -> float:
    """Return how far z lies outside of the dual cone, relative to its largest entry.

    0 inside, +∞ where it is no finite point; `dims` is cvxpy's `ConeDims`.
    """
    largest = float(np.max(np.abs(z), initial=0.0))
    if not np.isfinite(largest):
        return float("inf")
    if largest == 0.0:
        return 0.0
    z = z / largest
    blocks = iter(blocks_of(dims))
    found = [0.0]
    for _ in range(dims.zero):
        next(blocks)  # the dual of the zero cone is all there is
    found += [-float(z[next(blocks)][0]) for _ in range(dims.nonneg)]
    found += [float(np.linalg.norm(z[rows][1:]) - z[rows][0]) for rows in (next(blocks) for _ in dims.soc)]
    found += [-_least_eigenvalue(z[next(blocks)], n) for n in dims.psd]
    found += [_outside_exponential(z[next(blocks)]) for _ in range(dims.exp)]
    found += [_outside_power(z[next(blocks)], (alpha, 1.0 - alpha)) for alpha in dims.p3d]
    found += [_outside_power(z[next(blocks)], powers) for powers in dims.pnd]
    return max(found)


def _least_eigenvalue(z: Floats, n: int) -> float:
    """Return the least eigenvalue of a symmetric matrix from its upper triangle.

    Column by column, off-diagonal entries times √2.
    """
    matrix = np.zeros((n, n))
    columns, rows = np.tril_indices(n)
    matrix[rows, columns] = np.where(rows == columns, z, z / np.sqrt(2.0))
    matrix[columns, rows] = matrix[rows, columns]
    return float(np.linalg.eigvalsh(matrix)[0])


def _outside_exponential(z: Floats) -> float:
    """K* = {(u, v, w): u < 0, −u exp(v/u) ≤ e w} and {(0, v, w).

    V, w ≥ 0}, the dual of y exp(x/y) ≤ z.
    """
    u, v, w = z.tolist()
    if u >= 0:
        return float(max(u, -v, -w))
    with np.errstate(over="ignore"):
        return float(-u * np.exp(v / u - 1.0) - w)


def _outside_power(z: Floats, powers: Sequence[float]) -> float:
    """K* = {(u, w): |w| ≤ Π (u_i/α_i)^α_i, u ≥ 0}, the dual of |z| ≤ Π x_i^α_i."""
    u, alpha = z[:-1], np.asarray(powers, dtype=np.float64)
    if np.any(u < 0):
        return float(-u.min())
    return float(abs(z[-1]) - np.prod((u / alpha) ** alpha))
