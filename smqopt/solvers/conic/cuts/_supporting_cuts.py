"""Rows that follow from convex constraints and touch them where the optimum lies.

Let G x ∈ K be the constraints over x = (q, β, u), with spend β and whatever u else they speak of; g
what one more unit of acceptance is worth at offers q₀, and κ how fast that falls, the cost of it
included. Of

    max  g·(q − q₀) − ½ Σ κ_i (q_i − q₀_i)²   subject to   G x ∈ K,   budget and linear rows, with
    spend along the tangents of the cost curves at q₀

the conic solver finds q̂ and z ∈ K* with ⟨z, G x̂⟩ = 0: a step of sequential quadratic programming,
whose error is the square of the one before. ⟨z, G x⟩ ≥ 0 holds for all x that satisfy the
constraints, whatever z ∈ K*; it speaks of q and β alone where the coefficients of u cancel, as they
do at an optimum. So kinks, cones and variables of the user's own are no special cases, and a solver
that stops early costs tightness, not truth.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import lsqr

from smqopt.market import LinearRow
from smqopt.numeric import Floats
from smqopt.solvers.conic._quiet import chatter_to_stderr
from smqopt.solvers.conic.cuts._coupled_constraints import Sharing
from smqopt.solvers.conic.cuts._dual_cones import blocks_of, outside
from smqopt.solvers.conic.cuts._elementary import NOISE, elementary
from smqopt.solvers.conic.cuts._local_model import Local

_TIGHTEST = 2.0**-50
"""Asked of the solver; what it reaches is looked at."""
_ATTEMPTS: tuple[dict[str, Any], ...] = (
    {"max_step_fraction": 0.9},
    {"max_step_fraction": 0.8},
    {"max_step_fraction": 0.9, "static_regularization_constant": 2.0**-40},
    {"max_step_fraction": 0.95, "equilibrate_enable": False},
)
_MILD = 2.0**-16
"""How much less it matters that an answer misses the constraints than that a row is loose: offers
may break them a little, the gap may not stay open."""
_ENOUGH = 2.0**-42
"""Of slack, stray gradients and residuals of an answer; then no further attempt is made."""
_GOOD = 2.0**-44
"""Slack and leftover coefficients below this share of their terms are rounding."""
_SOFTEST, _STIFFEST = 2.0**-10, 2.0**20
"""Of owners, relative to what the constraints take."""
_ROUNDING = 2.0**-50
"""Leftover coefficients below this share of the largest terms are rounding too."""


@dataclass(frozen=True)
class SupportingCuts:
    """What was found."""

    acceptance: Floats
    """Acceptances that satisfy the constraints; shape (n,)."""
    multipliers: Floats
    """Of the rows, shape (k,)."""
    cuts: tuple[tuple[int, LinearRow, float], ...]
    """Rows in currency, each with the number of its group, and what it was multiplied by: its price
    is about the inverse."""


def support(groups: Sequence[Sharing], local: Local, currency: Floats, high: Floats) -> SupportingCuts | None:
    """Find supporting cuts near the offers, and set the user's own variables.

    None where the solver finds nothing.

    Parameters
    ----------
    groups
        The constraints.
    local
        The program around the offers.
    currency
        Units of spend, shape (n,), in currency.
    high
        θ̄, the most that can be spent on one owner, shape (n,), in currency.
    """
    size = float(np.max(np.abs(local.gain), initial=0.0)) or 1.0
    step = _step(groups, local, size)
    if step is None:
        return None
    cuts = []
    for number, (group, u, z) in enumerate(zip(groups, step.others, step.duals, strict=True)):
        group.keep(step.acceptance, step.spend, u, z)
        for part in elementary(group, z * size):
            cut, unit = _row(group, part, u, (currency, high), size)
            if cut is not None:
                cuts.append((number, cut, unit))
    multipliers = size * np.where(local.equal, step.multipliers, np.maximum(step.multipliers, 0.0))
    return SupportingCuts(step.acceptance, multipliers, tuple(cuts))


@dataclass(frozen=True)
class _CutStep:
    acceptance: Floats
    spend: Floats
    others: list[Floats]
    """u of each group."""
    duals: list[Floats]
    """z of each group, for an objective divided by its size."""
    multipliers: Floats
    """Of the linear rows, alike."""


def _step(groups: Sequence[Sharing], local: Local, size: float) -> _CutStep | None:
    n, k = local.acceptance.size, local.limits.size
    paying = np.flatnonzero(np.sum([_columns(group.of_spend) for group in groups], axis=0) > 0)
    p, widths = paying.size, [group.of_others.shape[1] for group in groups]
    starts = n + p + np.cumsum([0, *widths])
    total = int(starts[-1])
    unit = np.maximum(_largest(local.rows), np.abs(local.limits) / n)
    unit = np.where(unit > 0, unit, 1.0)
    R = sparse.csr_array(sparse.diags_array(1.0 / unit) @ local.rows)
    r, equal, loose = local.limits / unit, np.flatnonzero(local.equal), np.flatnonzero(~local.equal)
    along = sparse.hstack([_pick(-local.slope, paying), sparse.eye_array(p)])
    one = sparse.eye_array(n)
    parts: list[Any] = [_wide(along, total), *(_wide(part, total) for part in (R[equal], R[loose], one, -one))]
    sides = [(local.spend - local.slope * local.acceptance)[paying], r[equal], r[loose], local.highest, -local.lowest]
    zero, free = p + equal.size, loose.size + 2 * n
    cones: list[Any] = [clarabel.ZeroConeT(zero)] if zero else []
    cones.append(clarabel.NonnegativeConeT(free))
    for group, start, width in zip(groups, starts.tolist(), widths, strict=False):
        m = group.constant.size
        before, after = sparse.csc_array((m, start - n - p)), sparse.csc_array((m, total - start - width))
        parts.append(sparse.hstack([group.of_acceptance, group.of_spend[:, paying], before, group.of_others, after]))
        sides.append(group.constant)
        cones += _cones(group.dims)
    weight, pull = np.zeros(total), np.zeros(total)
    weight[:n] = np.clip(local.stiffness / size, _SOFTEST, _STIFFEST)
    pull[:n] = -local.gain / size - weight[:n] * local.acceptance
    A, b = sparse.csc_matrix(sparse.vstack(parts)), np.concatenate(sides)
    P = sparse.csc_matrix(sparse.diags_array(weight))
    best = _best((P, pull, A, b, cones), slice(zero + free, b.size))
    if best is None:
        return None
    x, z = best
    spend = local.spend.copy()
    spend[paying] = x[n : n + p]
    multipliers = np.zeros(k)
    multipliers[equal], multipliers[loose] = z[p:zero], z[zero : zero + loose.size]
    ends = np.cumsum([zero + free, *(group.constant.size for group in groups)]).tolist()
    above, below = np.split(z[zero + loose.size : zero + free], 2)
    return _CutStep(
        acceptance=_at_bounds(x[:n], local, above, below),
        spend=spend,
        others=[x[i:j] for i, j in itertools.pairwise(starts.tolist())],
        duals=[z[i:j] for i, j in itertools.pairwise(ends)],
        multipliers=multipliers / unit,
    )


def _cones(dims: Any) -> list[Any]:
    """Return Clarabel's cones for cvxpy's `ConeDims`, in the order of the rows."""
    return [
        *([clarabel.ZeroConeT(dims.zero)] if dims.zero else []),
        *([clarabel.NonnegativeConeT(dims.nonneg)] if dims.nonneg else []),
        *(clarabel.SecondOrderConeT(size) for size in dims.soc),
        *(clarabel.PSDTriangleConeT(size) for size in dims.psd),
        *(clarabel.ExponentialConeT() for _ in range(dims.exp)),
        *(clarabel.PowerConeT(alpha) for alpha in dims.p3d),
        *(clarabel.GenPowerConeT(powers, 1) for powers in dims.pnd),
    ]


def _at_bounds(q: Floats, local: Local, above: Floats, below: Floats) -> Floats:
    """Put who is held by a bound on it.

    Her multiplier is larger than what she is away from it.
    """
    q = np.where(above > local.highest - q, local.highest, q)
    q = np.where(below > q - local.lowest, local.lowest, q)
    return np.clip(q, local.lowest, local.highest)


def _pick(values: Floats, places: NDArray[np.intp]) -> sparse.csr_array:
    """Return one row for each place, with its value there."""
    ends = np.arange(places.size + 1)
    return sparse.csr_array((values[places], places, ends), shape=(places.size, values.size))


def _wide(part: Any, width: int) -> Any:
    """Add columns of zeros."""
    return sparse.hstack([part, sparse.csr_array((part.shape[0], width - part.shape[1]))])


def _largest(matrix: sparse.csr_array) -> Floats:
    """Return the largest absolute entry of each row."""
    found = abs(matrix).max(axis=1)
    return np.asarray(found.todense(), dtype=np.float64).ravel()


def _columns(matrix: sparse.csc_array) -> Floats:
    """Return the sum of the absolute entries of each column."""
    return np.asarray(abs(matrix).sum(axis=0), dtype=np.float64)


def _best(problem: tuple[Any, Floats, Any, Floats, list[Any]], of_groups: slice) -> tuple[Floats, Floats] | None:
    """Solve in a few attempts.

    The answer that is most accurate for the groups is taken, whatever the solver calls it.
    """
    P, c, A, b, cones = problem
    best, least = None, np.inf
    for attempt in _ATTEMPTS:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TIGHTEST
        for key, value in attempt.items():
            setattr(settings, key, value)
        with chatter_to_stderr():
            found = clarabel.DefaultSolver(P, c, A, b, cones, settings).solve()
        x, z = np.asarray(found.x), np.asarray(found.z)
        if not (np.isfinite(x).all() and np.isfinite(z).all()) or "Infeasible" in str(found.status):
            continue
        left = (b - A @ x)[of_groups]
        terms = float(np.abs(z[of_groups]) @ np.abs(b[of_groups])) or 1.0
        stray = float(np.max(np.abs(P @ x + c + A.T @ z), initial=0.0))
        missed = float(np.max(np.abs(left - np.asarray(found.s)[of_groups]), initial=0.0))
        off = max(abs(float(z[of_groups] @ left)) / terms, stray, _MILD * missed)
        if off < least:
            best, least = (x, z), off
        if least <= _ENOUGH:
            break
    return best


def _row(
    group: Sharing, z: Floats, u: Floats, money: tuple[Floats, Floats], size: float
) -> tuple[LinearRow | None, float]:
    """Return zᵀA_q q + zᵀA_b β ≤ zᵀb as a row in currency, and its factor.

    None where it takes nothing or holds what it should not.
    """
    currency, high = money
    z = _cancel(group, z)
    a, s = group.of_acceptance.T @ z, (group.of_spend.T @ z) / currency
    limit = float(z @ group.constant)
    left = group.of_others.T @ z
    terms = abs(group.of_others).T @ np.abs(z)
    largest = float(max(np.max(np.abs(a), initial=0.0), np.max(np.abs(s * currency), initial=0.0)))
    cancels = bool(np.all(np.abs(left) <= np.maximum(_GOOD * terms, _ROUNDING * np.max(terms, initial=0.0))))
    if not largest > NOISE * size or not cancels or outside(z, group.dims) > _GOOD:
        return None, 1.0
    limit += float(np.abs(left) @ np.abs(u)) + float(np.maximum(-s, 0.0) @ high)
    unit = float(np.ldexp(1.0, -np.frexp(largest)[1]))
    taken, paid = np.flatnonzero(a), np.flatnonzero(s > 0)
    row = LinearRow(
        at_most=limit * unit,
        acceptance=tuple(zip(taken.tolist(), (a[taken] * unit).tolist(), strict=True)),
        spend=tuple(zip(paid.tolist(), (s[paid] * unit).tolist(), strict=True)),
        name=group.texts[0],
    )
    return row, unit


def _cancel(group: Sharing, z: Floats) -> Floats:
    """Move z, by rounding, to where the coefficients of u cancel.

    Each cone in proportion to what it takes, and not where that is noise.
    """
    z, share = z.copy(), np.zeros(z.size)
    bounds = slice(group.dims.zero, group.dims.zero + group.dims.nonneg)
    z[bounds] = np.maximum(z[bounds], 0.0)
    for rows in blocks_of(group.dims):
        share[rows] = np.linalg.norm(z[rows])
    noise = share <= NOISE * np.max(share, initial=0.0)
    z[noise] = share[noise] = 0.0
    if group.of_others.shape[1] == 0:
        return z
    M = sparse.csc_array(group.of_others.T @ sparse.diags_array(share))
    step = lsqr(M, -(group.of_others.T @ z), atol=0.0, btol=0.0, iter_lim=4 * max(M.shape))[0]
    moved: Floats = z + share * step
    return moved
