r"""The expected error of the linear release, over who sells.

Given the sellers S the mean squared error is N² (σ² Y_S + 2R²)/X_S² − N σ², with X_S = Σ_S a_i and
Y_S = Σ_S a_i²; where X_S = 0 the answer is the public midpoint. Since 1/x² = ∫ t e^(−tx) dt,

    E[(σ² Y_S + 2R²)/X_S²; X_S > 0] = ∫_0^∞ t h(t) dt,
    h(t) = E[(σ² Y_S + 2R²) e^(−t X_S); X_S > 0]
         = Φ(t) (σ² Σ q_i a_i² e^(−t a_i)/φ_i(t) + 2R²) − 2R² Φ(∞),

with φ_i(t) = 1 − q_i + q_i e^(−t a_i) and Φ = Π φ_i. h is a mixture of falling exponentials, so its
logarithm is convex: between two t it lies below its chord, and above its tangents. Both integrate
in closed form, and enclose the integral from both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.document import shown
from smqopt.errors import check_kind
from smqopt.market import Solution, error_objective
from smqopt.numeric import Floats

_NEAR = 1e-6
"""Where the nodes begin, times 1/X: below, what is integrated is all but its value at 0."""
_SERIES = 1e-4
"""Where three terms of the series of (1 − e^(−x))/x are exact to the double."""

_FIRST_NODES = 24
_NODES = 400
"""No more are laid, where the bounds are furthest apart."""
_CLOSE = 1e-9
"""Bounds so near each other, relatively, are near enough."""
_FAR_APART = 4.0
"""Nodes further apart than this have a new one at their geometric mean."""
_FAR = 60.0
"""At this over the smallest weight nothing is left of the integrand."""
_FEW = 2.0**-10
"""Where fewer sell than this, their probability is summed without a difference."""
_ROUNDING = 1e-9
"""Relative; of sums of logarithms over all owners, beside what the grid leaves open."""


@dataclass(frozen=True)
class ExpectedError:
    """The root mean squared error, at the expected sums and in expectation. Public.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.linspace(0.1, 1.0, 50), smq.Uniform(0, 1))
    >>> found = smq.expected_error(smq.solve(market, 12.5, objective=smq.MeanSquaredError(range=1.0)))
    >>> found.lower <= found.upper, min(found.difference) > 0
    (True, True)
    """

    at_expected_sums: float
    """`solution.error`, in units of the answer."""
    lower: float
    upper: float
    """Enclose the root of the expected squared error over who sells."""
    nobody: float
    """The probability that nobody sells whose entry has a weight."""

    @property
    def over_sellers(self) -> str:
        """The bounds of the expected error in words."""
        step = 10.0 ** (math.floor(math.log10(self.upper)) - 4) if 0 < self.upper < math.inf else 0.0
        down, up = (math.floor(self.lower / step), math.ceil(self.upper / step)) if step else (self.lower, self.upper)
        return f"{shown(down * (step or 1.0), 5)} to {shown(up * (step or 1.0), 5)} expected"

    @property
    def difference(self) -> tuple[float, float]:
        """Bounds on the expected error minus that at the expected sums."""
        return self.lower - self.at_expected_sums, self.upper - self.at_expected_sums


def expected_error(solution: Solution) -> ExpectedError:
    """Enclose the expected error of a solution made for the error.

    Parameters
    ----------
    solution
        Of `MeanSquaredError`. Its weights min(ε_i, τ) are the best at the expected sums.

    Returns
    -------
    ExpectedError
        Bounds in floating point, an allowance for rounding included. Where nobody sells the answer
        is the midpoint of the public range, which the mean may miss by half of it: that is in the
        upper bound alone.

    Raises
    ------
    InputError
        If the solution was made for another objective.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.linspace(0.1, 1.0, 50), smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 12.5, objective=smq.MeanSquaredError(range=1.0))
    >>> found = expected_error(solution)
    >>> round(found.at_expected_sums, 3), round(found.lower, 2), round(found.upper, 2)
    (6.288, 6.44, 6.44)
    """
    check_kind(solution, Solution, "expected_error: argument 'solution'", "a Solution", "give what `solve` returns")
    aim = error_objective(solution.objective)
    market, q = solution.market, solution.acceptance
    N, s, R = aim.owners(market), aim.sigma2, aim.range
    a = np.minimum(market.epsilon, aim.sums(market, q)[2])
    able = (q > 0) & (a > 0)
    if not np.any(able):
        return ExpectedError(math.inf, math.inf, math.inf, 1.0)
    part, nobody = enclose_expectation(a[able], q[able], market.weights[able], s, 2.0 * R * R)
    least = N**2 * part[0] - N * s * (1.0 - nobody) + nobody * N * s
    most = N**2 * part[1] - N * s * (1.0 - nobody) + nobody * (N * R / 2.0) ** 2
    margin = _ROUNDING * (N**2 * part[1] + N * s)
    return ExpectedError(
        solution.error, math.sqrt(max(least - margin, 0.0)), math.sqrt(max(most + margin, 0.0)), nobody
    )


def enclose_expectation(
    a: Floats, q: Floats, copies: Floats, variance: float, noise: float
) -> tuple[tuple[float, float], float]:
    """Enclose E[(σ² Y + c)/X²; X > 0], and return P(X = 0).

    Parameters
    ----------
    a, q, copies
        Weights a_i > 0, chances q_i > 0 and how many alike owners there are, shape (n,).
    variance, noise
        σ² and c.
    """
    with np.errstate(divide="ignore"):
        log_nobody = float((copies * np.log1p(-q)).sum())
    X, rate = float((copies * q * a).sum()), float(a.min())
    t = np.append(0.0, np.geomspace(_NEAR / X, _FAR / rate, _FIRST_NODES))
    values = np.array([_log_h(a, q, copies, variance, noise, log_nobody, at) for at in t.tolist()])
    while True:
        known = int(np.argmin(np.append(np.isfinite(values[:, 0]), False)))
        if known == 0:  # so few sell that doubles hold nothing of them
            return (0.0, math.inf), math.exp(log_nobody)
        low, high = _between(t[:known], *values[:known].T)
        # beyond the last node h falls at least as fast as e^(−t min a)
        last, height = float(t[known - 1]), math.exp(values[known - 1, 0])
        beyond = height * (last + 1.0 / rate) / rate if height > 0 else 0.0
        lower, upper = float(low.sum()), float(high.sum()) + beyond
        open_by = np.append(high - low, beyond)[: t.size - 1]
        if upper - lower <= _CLOSE * upper or t.size >= _NODES:
            return (lower, upper), math.exp(log_nobody)
        wide = np.flatnonzero(open_by > 0.5 * _CLOSE * upper / t.size)
        wide = wide[np.argsort(-open_by[wide])][: _NODES - t.size]
        left, right = t[wide], t[wide + 1]
        new = np.where(
            right > _FAR_APART * left, np.sqrt(np.maximum(left, right * _NEAR) * right), 0.5 * (left + right)
        )
        new = new[(left < new) & (new < right)]
        if not new.size:
            return (lower, upper), math.exp(log_nobody)
        more = np.array([_log_h(a, q, copies, variance, noise, log_nobody, at) for at in new.tolist()])
        order = np.argsort(np.concatenate([t, new]))
        t, values = np.concatenate([t, new])[order], np.concatenate([values, more])[order]


def _between(t: Floats, log_h: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """Enclose the integral between neighbouring nodes, by tangents and chords."""
    low, high, left, right = t[:-1], t[1:], log_h[:-1], log_h[1:]
    upper = _moment(low, high, left, (right - left) / (high - low))
    # the tangents of both ends meet where they are equal
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (left - right + slope[1:] * high - slope[:-1] * low) / (slope[1:] - slope[:-1])
    meet = np.clip(np.where(np.isfinite(meet), meet, high), low, high)
    at_meet = right + slope[1:] * (meet - high)
    return _moment(low, meet, left, slope[:-1]) + _moment(meet, high, at_meet, slope[1:]), upper


def _log_h(
    a: Floats, q: Floats, copies: Floats, variance: float, noise: float, log_nobody: float, t: float
) -> tuple[float, float]:
    """Return log h(t) and its slope."""
    kept, sold = 1.0 - q, np.exp(-t * a)
    sold *= q
    phi = kept + sold
    sure = kept == 0  # her φ is e^(−ta), which may underflow
    with np.errstate(divide="ignore", invalid="ignore"):
        log_phi, share = np.log(phi), sold / phi
    np.copyto(log_phi, -t * a, where=sure)
    np.copyto(share, 1.0, where=sure)
    log_all = float((copies * log_phi).sum())
    first = copies * share * a
    # derivatives: (log Φ)′ = −Σ share a, and share′ = −share (1 − share) a
    fall = float(first.sum())
    first *= a
    squares = float(first.sum())
    first *= a
    first *= kept / np.where(sure, 1.0, phi)
    bend = float(first.sum())
    inside = variance * squares + noise
    some = 1.0 if log_nobody == -math.inf else -math.expm1(log_nobody - log_all)  # (Φ(t) − Φ(∞))/Φ(t)
    if some < _FEW and log_nobody > -math.inf:
        some = -math.expm1(-float((copies * np.log1p(sold / kept)).sum()))
    value = variance * squares + noise * some
    if not value > 0:
        return -math.inf, -math.inf
    return log_all + math.log(value), -(fall * inside + variance * bend) / value


def _moment(low: Floats, high: Floats, log_height: Floats, slope: Floats) -> Floats:
    """Return ∫ t exp(log_height + slope (t − low)) dt from low to high, slope ≤ 0."""
    length = high - low
    x = -slope * length
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        zeroth = np.where(x > _SERIES, -np.expm1(-x) / x, 1.0 - x / 2.0 + x * x / 6.0)
        first = np.where(x > 1e-2, (zeroth - np.exp(-x)) / x, 0.5 - x / 3.0 + x * x / 8.0 - x**3 / 30.0)
    return np.exp(log_height) * length * (low * zeroth + length * first)
