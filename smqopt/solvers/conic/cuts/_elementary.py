"""Multipliers of cones as a sum of elementary ones.

Each gives a supporting cut, and none is a sum of others.

Four owners at their own limits q_i² ≤ c need four cuts. Their sum is as true, but under it alone
the multipliers say where each owner stands, and a conic solver knows those to half its digits.
Under cuts of their own the limits say it, with the square of that error.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from smqopt.numeric import Floats
from smqopt.solvers.conic.cuts._coupled_constraints import Sharing
from smqopt.solvers.conic.cuts._dual_cones import blocks_of

FEASIBLE = 1e-10
"""Residual that HiGHS is asked for; the least it takes, so that rays are far above `NOISE`."""
NOISE = 2.0**-40
"""Multipliers of a cone below this share of the largest are noise."""


def elementary(group: Sharing, z: Floats) -> list[Floats]:
    """Split multipliers into elementary ones; coefficients of own variables cancel.

    Weights w ≥ 0 of the cones with Σ w_k A_uᵀ z_k = 0 are a cone of their own, and 1 is one of
    them: it is split into extreme rays, each the vertex of a linear program, after unconnected
    cones are told apart. `z` is nearly in the dual cone and nearly cancels; the parts sum to it,
    but for noise.
    """
    blocks = blocks_of(group.dims)
    sizes = np.array([np.linalg.norm(z[rows]) for rows in blocks])
    kept = np.flatnonzero(sizes > NOISE * np.max(sizes, initial=0.0))
    block_of_row = np.repeat(np.arange(len(blocks)), [rows.stop - rows.start for rows in blocks])
    sums = sparse.csc_array((z, (np.arange(z.size), block_of_row)), shape=(z.size, len(blocks)))
    taken = sparse.coo_array(group.of_others.T @ sums[:, kept])
    counts = np.abs(taken.data) > NOISE * np.max(np.abs(taken.data), initial=0.0)
    M = sparse.csc_array((taken.data[counts], (taken.row[counts], taken.col[counts])), shape=taken.shape)
    number, component = connected_components(abs(M).T @ abs(M), directed=False)
    weights: list[Floats] = []
    members = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component, minlength=number))[:-1])
    for columns in members if kept.size else []:
        for w in _rays(M[:, columns]):
            weights.append(np.zeros(len(blocks)))
            weights[-1][kept[columns]] = w
    return [w[block_of_row] * z for w in weights]


def _rays(M: sparse.csc_array) -> list[Floats]:
    """Split 1 into extreme rays of {w ≥ 0: M w = 0}.

    Whole where the solver finds none.
    """
    m = M.shape[1]
    M = M[np.flatnonzero(abs(M).sum(axis=1))]
    left, found = np.ones(m), []
    while m > 1 and (there := np.flatnonzero(left > NOISE)).size:
        answer = linprog(  # type: ignore[call-overload]  # its stubs take no sparse matrix
            np.ones(there.size),
            A_eq=M[:, there],
            b_eq=np.zeros(M.shape[0]),
            bounds=[(1.0, 1.0), *[(0.0, None)] * (there.size - 1)],  # a ray through the first that is left
            method="highs-ds",
            options={"primal_feasibility_tolerance": FEASIBLE},
        )
        if answer.x is None:
            break
        ray = np.where(answer.x > NOISE, answer.x, 0.0)
        length = float(np.min(left[there][ray > 0] / ray[ray > 0]))
        found.append(np.zeros(m))
        found[-1][there] = length * ray
        left = left - found[-1]
    if m == 1 or np.max(left) > NOISE:
        return [np.ones(m)]
    return found
