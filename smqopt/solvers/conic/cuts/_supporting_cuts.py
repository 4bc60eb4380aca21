"""Rows that follow from convex constraints and touch them where the optimum lies.

Let G x ∈ K be the constraints over x = (q, β, u), with spend β and whatever u else they speak of, ν
what they took at the optimum, and x̂ where it was found. Of

    max  ν·(q, β) − ½ w |(q, β) − (q̂, β̂)|²   subject to   G x ∈ K,   0 ≤ q ≤ 1,   0 ≤ β ≤ highest

with a small w > 0 the conic solver finds x and z ∈ K*. ⟨z, G x⟩ ≥ 0 holds for all x that satisfy
the constraints, whatever z ∈ K*; it speaks of q and β alone where the coefficients of u cancel, as
they do at an optimum. So kinks, cones and variables of the user's own are no special cases, and a
solver that stops early costs tightness, not truth.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import clarabel
import numpy as np
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones
from scipy import sparse
from scipy.sparse.linalg import lsqr

from smqopt.errors import SolverError
from smqopt.market import LinearRow
from smqopt.numeric import Floats
from smqopt.solvers.conic._contained import contain
from smqopt.solvers.conic._refusals import asks_for_spend
from smqopt.solvers.conic.cuts._coupled_constraints import Sharing
from smqopt.solvers.conic.cuts._dual_cones import blocks_of, outside, push_inside
from smqopt.solvers.conic.cuts._elementary import NOISE, elementary

_TIGHTEST = 2.0**-50
"""Asked of the solver; what it reaches is looked at."""
_STEPS = (0.9, 0.8, 0.95)
"""Shares of the step to the boundary: on some programs Clarabel stalls for one or the other."""
_ENOUGH = 2.0**-42
"""Of slack and stray gradients; then no further attempt is made."""
WEIGHTS = (2.0**-12, 2.0**-24)
"""w, relative to ν: where all of a face is as good, it picks the point next to the offers. Where
the solver does not find that point z errs by w, and a smaller one helps."""
_GOOD = 2.0**-44
"""Leftover coefficients below this share of their terms are rounding."""
_FLOOR = 2.0**-24
"""Spend that a row asks for, relative to its largest coefficient, from which on it is refused."""
_PASSES = 2
"""What cancels may stick out of its cone, and what is moved inside not cancel, by a rounding."""

Cut = tuple[int, LinearRow, float]
"""A row in currency, with the number of its group, and its price."""


def supporting_cuts(
    groups: Sequence[Sharing],
    normal: tuple[Floats, Floats],
    at: tuple[Floats, Floats],
    money: tuple[Floats, Floats],
    weight: float,
) -> tuple[list[Cut], Floats]:
    """Find rows that follow from constraints and touch them near offers.

    `normal` and `at` are ν, and q̂ with β̂ in currency; `money` holds units of spend, and the most
    that can be spent on one owner; shape (n,) each; `weight` is w. Variables of the user's own are
    left where the rows touch; that acceptance is returned too.
    """
    currency, high = money
    pull = normal[0], normal[1] * currency
    size = float(max(np.max(np.abs(one), initial=0.0) for one in pull))
    if not size > 0:
        return [], at[0]
    scaled = (pull[0] / size, pull[1] / size), (at[0], at[1] / currency), high / currency
    q, multipliers = _solve_near(groups, *scaled, weight)
    cuts = [
        (number, *cut)
        for number, (group, z) in enumerate(zip(groups, multipliers, strict=True))
        for part in elementary(group, z * size)
        if (cut := _row(group, part, money, size)) is not None
    ]
    return cuts, q


def _solve_near(
    groups: Sequence[Sharing], pull: tuple[Floats, Floats], at: tuple[Floats, Floats], most: Floats, w: float
) -> tuple[Floats, list[Floats]]:
    """Return q, and z of each group; set the user's own variables."""
    n, widths = most.size, [group.of_others.shape[1] for group in groups]
    total, bounds = 2 * n + sum(widths), sparse.eye_array(2 * n)
    table: list[list[Any]] = [[one, *[None] * len(groups)] for one in (bounds, -bounds)]
    for k, group in enumerate(groups):
        table.append([sparse.hstack([group.of_acceptance, group.of_spend]), *[None] * len(groups)])
        table[-1][1 + k] = group.of_others
    sides = [np.ones(n), most, np.zeros(2 * n), *(group.constant for group in groups)]
    cones = [clarabel.NonnegativeConeT(4 * n), *(cone for group in groups for cone in dims_to_solver_cones(group.dims))]
    weight, c = np.zeros(total), np.zeros(total)
    weight[: 2 * n] = w
    c[: 2 * n] = -np.concatenate(pull) - w * np.concatenate(at)
    A, b = sparse.csc_matrix(sparse.block_array(table)), np.concatenate(sides)
    x, z = _best(sparse.csc_matrix(sparse.diags_array(weight)), c, A, b, cones)
    starts = (2 * n + np.cumsum([0, *widths])).tolist()
    ends = np.cumsum([4 * n, *(group.constant.size for group in groups)]).tolist()
    found = [z[i:j] for i, j in itertools.pairwise(ends)]
    for group, mine, (i, j) in zip(groups, found, itertools.pairwise(starts), strict=True):
        if x.any():
            group.keep(np.concatenate([x[: 2 * n], x[i:j]]), mine)
    return np.clip(x[:n], 0.0, 1.0), found


def _best(P: Any, c: Floats, A: Any, b: Floats, cones: list[Any]) -> tuple[Floats, Floats]:
    """Solve in a few attempts, and take the answer that is most accurate."""
    best, least = (np.zeros(c.size), np.zeros(b.size)), np.inf
    for step in _STEPS:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_step_fraction = step
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TIGHTEST
        try:
            with contain():
                found = clarabel.DefaultSolver(P, c, A, b, cones, settings).solve()
        except SolverError:
            continue
        x, z = np.asarray(found.x), np.asarray(found.z)
        if not (np.isfinite(x).all() and np.isfinite(z).all()):
            continue
        terms = float(np.abs(z) @ np.abs(b)) or 1.0
        stray = float(np.max(np.abs(P @ x + c + A.T @ z), initial=0.0))
        off = max(abs(float(z @ (b - A @ x))) / terms, stray)
        if off < least:
            best, least = (x, z), off
        if least <= _ENOUGH:
            break
    return best


def _row(group: Sharing, z: Floats, money: tuple[Floats, Floats], size: float) -> tuple[LinearRow, float] | None:
    """Return zᵀA_q q + zᵀA_b β ≤ zᵀb as a row in currency, and its price.

    None where it takes nothing or holds what it should not. Leftover coefficients of u are taken at
    their size: the limit is looser by them.
    """
    currency, high = money
    z = _cancel(group, z)
    a, s = group.of_acceptance.T @ z, (group.of_spend.T @ z) / currency
    left, terms = np.abs(group.of_others.T @ z), abs(group.of_others).T @ np.abs(z)
    largest = float(max(np.max(np.abs(a), initial=0.0), np.max(np.abs(s * currency), initial=0.0)))
    cancels = bool(np.all(left <= _GOOD * np.max(terms, initial=0.0)))
    if not largest > NOISE * size or not cancels or outside(z, group.dims) > _GOOD:
        return None
    more = float(np.maximum(-s, 0.0) @ high)
    if more > _FLOOR * largest:
        raise asks_for_spend(" and ".join(group.texts))
    limit = float(z @ group.constant) + float(np.sum(left)) + more
    unit = float(np.ldexp(1.0, -np.frexp(largest)[1]))
    taken, paid = np.flatnonzero(a), np.flatnonzero(s > 0)
    if float(np.maximum(a, 0.0).sum() + np.maximum(s, 0.0) @ high) <= limit:
        return None  # it always holds
    row = LinearRow(
        at_most=limit * unit,
        acceptance=tuple(zip(taken.tolist(), (a[taken] * unit).tolist(), strict=True)),
        spend=tuple(zip(paid.tolist(), (s[paid] * unit).tolist(), strict=True)),
        name=group.texts[0],
    )
    return row, 1.0 / unit


def _cancel(group: Sharing, z: Floats) -> Floats:
    """Move z, by rounding, to where the coefficients of u cancel.

    Each cone in proportion to what it takes.
    """
    z, share = z.copy(), np.zeros(z.size)
    bounds = slice(group.dims.zero, group.dims.zero + group.dims.nonneg)
    z[bounds] = np.maximum(z[bounds], 0.0)
    for rows in blocks_of(group.dims):
        share[rows] = np.linalg.norm(z[rows])
    if group.of_others.shape[1] == 0:
        return z
    M = sparse.csc_array(group.of_others.T @ sparse.diags_array(share))
    for _ in range(_PASSES):
        z += share * lsqr(M, -(group.of_others.T @ z), atol=0.0, btol=0.0, iter_lim=4 * max(M.shape))[0]
        push_inside(z, group.dims)
    return z
