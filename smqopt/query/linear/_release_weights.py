r"""The weights of the linear release, from public numbers.

With weights 0 ≤ a_i ≤ ε_i, A = Σ q_i a_i at the expected sums and noise of scale b, the estimate
W Σ_S a_i x_i/A of Σ w_i x_i errs in the mean square by

    σ² [Σ q_i (W a_i/A − w_i)² + Σ (1 − q_i) w_i²] + 2 W² b²/A².

In b_i = a_i/A and u = 1/A it is convex, subject to 0 ≤ b_i ≤ ε_i u and Σ q_i b_i = 1. With ν and
κ = 2b²/σ² the conditions are

    b_i = clip(w_i/W + ν, 0, ε_i u)   and   κ u = Σ q_i ε_i (w_i/W + ν − ε_i u)₊,

so a_i = clip(τ + w_i A/W, 0, ε_i), τ = ν/u. Equal weights give a_i = min(ε_i, τ), and the one
equation Σ q_i a_i (τ − a_i) = κ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from smqopt.market import best_cap
from smqopt.numeric import Floats, exact_sum

_SMALLEST = 1e-30
"""Numbers beyond it, or beyond its inverse, keep all their bits: half a precision has no room."""

_MOST_STEPS = 200
_SMALLEST = 1e-30
"""A requirement below this gets no weight, one above its inverse no more: no square overflows."""
_CLOSE = 2.0**-40
"""Relative; weights need not be the best to the last digit, only within the requirements."""


@dataclass(frozen=True, eq=False)
class ReleaseWeights:
    """Weights for every owner of a market, whoever sells. Public."""

    weights: Floats = field(repr=False)
    """0 ≤ a_i ≤ ε_i, shape (N,)."""
    tau: float
    """τ, in units of ε; for weighted sums of a_i = clip(τ + w_i A/W, 0, ε_i)."""
    error: float
    """The mean squared error at the expected sums, each of the sums; +∞ where nothing is sold."""


def release_weights(w: Floats, acceptance: Floats, epsilon: Floats, variance: float, noise: float) -> ReleaseWeights:
    """Choose the weights that make the error at the expected sums least.

    Parameters
    ----------
    w
        Of the sum, Σ w_i ≠ 0, shape (N,).
    acceptance, epsilon
        q_i and ε_i, shape (N,).
    variance
        σ² ≥ 0 of an entry.
    noise
        b > 0, the scale of the noise in units of the entries.
    """
    total, q = exact_sum(w), acceptance
    epsilon = np.where(epsilon < _SMALLEST, 0.0, np.minimum(epsilon, 1.0 / _SMALLEST))
    if not np.any((q > 0) & (epsilon > 0)):
        return ReleaseWeights(epsilon, float(np.max(epsilon)), np.inf)
    kappa = 2.0 * noise**2 / variance if variance > 0 else np.inf
    slope = 0.0
    if not kappa < np.inf:
        tau = float(np.max(epsilon))
    elif np.all(w == w[0]):
        tau = best_cap(epsilon, q, kappa)
    else:
        tau, slope = _for_weighted_sum(w / total, q, epsilon, kappa)
    tau, slope = _in_few_digits(tau), _in_few_digits(slope)
    a = np.clip(tau + (w / total) * slope, 0.0, epsilon) if slope else np.minimum(epsilon, tau)
    A = float(q @ a)
    if not A > 0:
        return ReleaseWeights(epsilon, tau, np.inf)
    parts = float(q @ (total * a / A - w) ** 2 + (1.0 - q) @ w**2) if variance > 0 else 0.0
    return ReleaseWeights(a, tau, variance * parts + 2.0 * (total * noise / A) ** 2)


def _for_weighted_sum(v: Floats, q: Floats, epsilon: Floats, kappa: float) -> tuple[float, float]:
    """Return τ = ν/u and A = 1/u; u by false position between two bounds, ν inside."""
    weight = q * epsilon

    def excess(u: float, nu: float) -> tuple[float, float]:
        cap = epsilon * u
        nu = _level(v, q, cap, nu)
        return kappa * u - float(weight @ np.maximum(v + nu - cap, 0.0)), nu

    low = (1.0 + _CLOSE) / float(weight.sum())
    high = 2.0 * low
    nu = float(np.max(epsilon)) * low
    at_low, _ = excess(low, nu)
    if at_low >= 0:
        high = low
    else:
        at_high, nu = excess(high, nu)
        for _ in range(_MOST_STEPS):
            if at_high >= 0:
                break
            low, at_low, high = high, at_high, 2.0 * high
            at_high, nu = excess(high, nu)
        for _ in range(_MOST_STEPS):
            if high - low <= _CLOSE * high:
                break
            across = at_low - at_high
            u = low + (high - low) * (min(max(at_low / across, 0.01), 0.99) if across < 0 else 0.5)
            at_u, nu = excess(u, nu)
            if at_u >= 0:  # the end that stays is halved, so that it does not stay for ever
                high, at_high, at_low = u, at_u, at_low / 2.0
            else:
                low, at_low, at_high = u, at_u, at_high / 2.0
    nu = _level(v, q, epsilon * high, nu)
    return nu / high, 1.0 / high


def _in_few_digits(x: float) -> float:
    """Round to 24 bits: weights are then the same wherever they are worked out again."""
    return float(np.float32(x)) if _SMALLEST < abs(x) < 1.0 / _SMALLEST else x


def _level(v: Floats, q: Floats, cap: Floats, nu: float) -> float:
    """Return ν with Σ q clip(v + ν, 0, cap) = 1, by Newton steps between bounds."""
    low, high = -float(np.max(v)), float(np.max(cap - v))
    nu = min(max(nu, low), high)
    for _ in range(_MOST_STEPS):
        at = v + nu
        over = float(q @ np.clip(at, 0.0, cap)) - 1.0
        low, high = (low, nu) if over >= 0 else (nu, high)
        slope = float(q @ ((at > 0) & (at < cap)))
        step = nu - over / slope if slope > 0 else np.nan
        new = step if low < step < high else 0.5 * (low + high)
        if abs(over) <= _CLOSE or not low < new < high:
            break
        nu = new
    return nu
