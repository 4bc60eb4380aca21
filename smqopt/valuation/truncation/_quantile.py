"""Quantiles that no neighbouring double beats.

In both tails, from a start that may be rough.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.valuation.law._base import Valuation

MOST_EVALUATIONS = 200
"""More are never needed: all but the first halve a bracket of at most 2⁶³ doubles."""
SMALLEST = 1e-290
"""Below this F may have lost digits to underflow, and log F speaks for it."""

COARSE = 2.0**-44
"""Where F rises by more than this from one double to the next, relative to the nearer tail, a
formula for the quantile may miss by a double."""
_STEPS = 16
"""After so many probes the bracket is halved alone."""


def polish_where_coarse(law: Valuation, q: Floats, theta: Floats) -> Floats:
    """Correct F⁻¹(q) from a formula where one double more or less tells in a tail."""
    shape, u, _, _ = law.spread(q)
    found = np.broadcast_to(theta, shape).ravel().copy()
    room = COARSE * np.minimum(u, 1.0 - u)
    coarse = np.broadcast_to(law.pdf(theta), shape).ravel() * np.spacing(found) > room
    k = np.flatnonzero(coarse & np.isfinite(found))
    if k.size:
        rough = found[k]
        found[k] = polish_quantile(law.at(k), u[k], lambda _: rough)
    return np.asarray(found.reshape(shape))


def polish_quantile(law: Valuation, q: Floats, start: Callable[[Floats], Floats] | None = None) -> Floats:
    """Find the least θ with F(θ) ≥ q, as F is computed.

    Newton's steps on log F below the median and on log(1 − F) above it, within a bracket that is
    counted in doubles. Each step aims a little beyond the root, so that the bracket closes from
    both sides; every third probe halves it, and all later ones do: F as it is computed may be level
    for many doubles round the root. So F may have an infinite density, be flat, or jump.

    Parameters
    ----------
    law
        A law with tail-safe `log_cdf` and `log_survival`.
    q
        In (0, 1).
    start
        Gives a rough F⁻¹(q), for q of the shape of the answer; may be wrong or NaN.
    """
    shape, u, low, high = law.spread(q)
    if start is not None:
        rough = np.broadcast_to(start(u.reshape(shape)), shape).ravel()
    elif law.size is None:
        rough = _from_table(law, u)
    else:
        rough = np.full(u.size, np.nan)
    theta = np.where(np.isfinite(rough), np.clip(rough, low, high), 0.5 * low + 0.5 * high)
    below, above = np.abs(low).view(np.int64) - 1, high.view(np.int64).copy()  # doubles ≥ 0 are in order as integers
    if law.has_atoms:
        _narrow_by_knots(law, u, below, above)
    probe = np.abs(theta).view(np.int64)
    run, left = np.zeros(u.size, dtype=np.int64), np.flatnonzero(above - below > 1)
    for turn in range(1, MOST_EVALUATIONS):
        if left.size == 0:
            break
        at = np.clip(probe[left], below[left] + 1, above[left] - 1)
        x = at.view(np.float64)
        gap, slope = _gaps(law, left, x, u)
        reached = gap >= 0
        above[left[reached]], below[left[~reached]] = at[reached], at[~reached]
        newton = np.clip(x - gap / slope, low[left], high[left])
        aimed = np.where(np.isfinite(newton), newton, x).view(np.int64)
        run[left] = np.where(reached, np.maximum(run[left], 0) + 1, np.minimum(run[left], 0) - 1)
        beyond = np.maximum(np.abs(aimed - at) >> 10, np.int64(1) << np.minimum(2 * np.abs(run[left]) - 2, 60))
        aimed = np.where(reached, aimed - beyond, aimed + beyond)
        halfway = below[left] + (above[left] - below[left]) // 2
        usable = np.isfinite(newton) & (turn % 3 != 0) & (turn < _STEPS)
        probe[left] = np.where(usable, aimed, halfway)
        left = left[above[left] - below[left] > 1]
    return np.asarray(above.view(np.float64).reshape(shape))


def _narrow_by_knots(law: Valuation, u: Floats, below: Indices, above: Indices) -> None:
    """Put brackets between knots, in place.

    Where F jumps beyond u at the upper one the bracket closes: no step but halving leads on there.
    """
    knots = np.abs(law.knots()).view(np.int64)
    knots = np.broadcast_to(knots.reshape(knots.shape[0], -1), (knots.shape[0], law.size or u.size))
    owner = np.arange(u.size) % knots.shape[1]

    def narrow(at: Indices) -> None:
        inside = np.flatnonzero((below < at) & (at < above))
        if inside.size:
            reached = _gaps(law, inside, at[inside].view(np.float64), u)[0] >= 0
            above[inside[reached]], below[inside[~reached]] = at[inside[reached]], at[inside[~reached]]

    first, last = np.zeros(u.size, dtype=np.intp), np.full(u.size, knots.shape[0] - 1)
    while np.any(first < last):
        middle = first + (last - first) // 2
        at = knots[middle, owner]
        narrow(at)
        first, last = np.where(above <= at, first, middle + 1), np.where(above <= at, middle, last)
    narrow(above - 1)


def _from_table(law: Valuation, u: Floats) -> Floats:
    """Read rough quantiles of a common law off a table of F.

    Its points are even in θ, and geometric towards both ends.
    """
    share = 2.0 ** -np.arange(8.0, 60.0, 0.5)
    shares = np.unique(np.concatenate([np.linspace(0.0, 1.0, 257), share, 1.0 - share]))
    theta = np.unique(np.clip(law.low + law.width * shares, law.low, law.high))
    F = np.maximum.accumulate(law.cdf(theta))
    return np.asarray(np.interp(u, F, theta))


def _gaps(law: Valuation, owners: Indices, theta: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Compute what F lacks to u at θ, as a logarithm, and its slope, by tails."""
    wanted, gap, slope = u[owners], np.empty(owners.size), np.empty(owners.size)
    for tail, half in ((_lower, wanted < 0.5), (_upper, wanted >= 0.5)):
        k = np.flatnonzero(half)
        if k.size:
            gap[k], slope[k] = tail(law.at(owners[k]), theta[k], wanted[k])
    return gap, slope


def _lower(law: Valuation, theta: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Compute log(F/u), which rises in θ and is 0 at the quantile, and its slope."""
    F = law.cdf(theta)
    # the sign is that of F − u, to the last digit
    gap, slope = (
        np.where(u == F, 0.0, np.copysign(np.maximum(np.abs(np.log(F / u)), np.spacing(0.0)), F - u)),
        law.pdf(theta) / F,
    )
    faint = np.minimum(F, u) < SMALLEST
    if np.any(faint):
        log_F = law.log_cdf(theta)
        gap = np.where(faint, log_F - np.log(u), gap)
        slope = np.where(faint, law.pdf(theta) * np.exp(-log_F), slope)
    return gap, slope


def _upper(law: Valuation, theta: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Compute log((1 − u)/(1 − F)), 0 at the quantile and rising, and its slope."""
    log_S = law.log_survival(theta)
    return np.log1p(-u) - log_S, law.pdf(theta) * np.exp(-log_S)
