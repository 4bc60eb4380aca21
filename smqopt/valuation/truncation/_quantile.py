"""Quantiles to the last digits in both tails, from a start that may be rough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.numeric import QUANTILE, Floats, Indices, increasing_root
from smqopt.valuation.law._base import Valuation

Tail = Callable[[Valuation, Floats, Floats], tuple[Floats, Floats]]

NEWTON_STEPS = 4
SMALLEST = 1e-305
"""Below this F may have lost digits to underflow, and log F speaks for it."""


def polish_quantile(law: Valuation, q: Floats, start: Callable[[Floats], Floats]) -> Floats:
    """Solve F(θ) = q: a start, Newton's steps on log F below the median and on log(1 − F) above it, and where these do not settle, a bracketed root.

    Parameters
    ----------
    law
        A law with a density and with tail-safe `log_cdf` and `log_survival`.
    q
        In [0, 1]; elsewhere the answer is NaN.
    start
        Gives a rough F⁻¹(q), for q of the shape of the answer; may be wrong or NaN in far tails.
    """
    shape, u, low, high = law.spread(q)
    theta = np.where(u <= 0, low, np.where(u >= 1, high, 0.5 * (low + high)))
    inside = (u > 0) & (u < 1)
    rough = np.asarray(start(np.where(inside, u, 0.5).reshape(shape))).ravel()
    theta = np.where(inside & np.isfinite(rough), np.clip(rough, low, high), theta)
    for tail, half in ((_lower, inside & (u < 0.5)), (_upper, inside & (u >= 0.5))):
        chosen = np.flatnonzero(half)
        theta[chosen] = _solve(law, tail, chosen, u, theta[chosen], low[chosen], high[chosen])
    return np.where((u >= 0) & (u <= 1), theta, np.nan).reshape(shape)


def _solve(law: Valuation, tail: Tail, owners: Indices, u: Floats, theta: Floats, low: Floats, high: Floats) -> Floats:
    """Polish the quantiles of the elements `owners` of a flattened argument."""
    theta = theta.copy()
    left = np.arange(owners.size)
    gap_before = np.full(owners.size, np.inf)
    for _ in range(NEWTON_STEPS + 1):
        if left.size == 0:
            return theta
        x = theta[left]
        gap, slope = tail(law.at(owners[left]), x, u[owners[left]])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # as small as rounding lets it be: of F itself, and of θ, a few spacings of which move it
            room = QUANTILE.value * (1.0 + slope * np.spacing(x) / np.finfo(np.float64).eps)
            settled = np.isfinite(gap) & (np.abs(gap) <= room)
            better = np.where(np.abs(gap) < gap_before[left], x - gap / slope, np.nan)
        theta[left] = np.where(~np.isfinite(better), x, np.clip(better, low[left], high[left]))
        gap_before[left] = np.abs(gap)
        left = left[~settled]

    def function(x: Floats, k: Indices) -> Floats:
        return tail(law.at(owners[left[k]]), x, u[owners[left[k]]])[0]

    theta[left] = increasing_root(function, low[left], high[left])
    return theta


def _lower(law: Valuation, theta: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Compute log(F/u), which rises in θ and is 0 at the quantile, and its slope."""
    F = law.cdf(theta)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gap, slope = np.log(F / u), law.pdf(theta) / F
        if np.any(F < SMALLEST):
            log_F = law.log_cdf(theta)
            gap = np.where(F < SMALLEST, log_F - np.log(u), gap)
            slope = np.where(F < SMALLEST, law.pdf(theta) * np.exp(-log_F), slope)
    return gap, slope


def _upper(law: Valuation, theta: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Compute log((1 − u)/(1 − F)), which rises in θ and is 0 at the quantile, and its slope."""
    log_S = law.log_survival(theta)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.log1p(-u) - log_S, law.pdf(theta) * np.exp(-log_S)
