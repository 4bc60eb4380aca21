"""The virtual cost of a uniform θ given ε under a Gaussian copula.

Write u = F(θ), x = Φ⁻¹(u), z = Φ⁻¹(G(ε)), s = √(1 − r²) and y = (x − r z)/s. Given ε, θ is accepted
at the threshold with probability Φ(y), and u has the density

    c(u) = φ(y)/(s φ(x)) = exp(−E)/s,    E = ½ (w² − z²),    w = r y − s z = (r x − z)/s.

With Mills' ratio M(y) = Φ(y)/φ(y) and κ = s z/r, the virtual cost in units of the support is j = u
+ s φ(x) M(y), and

    dj/du = 2 − r² h(y),    h(y) = M(y) (κ − y).

So its shape is a matter of one function of one variable:

* M(y) = ∫₀^∞ exp(−t²/2 + y t) dt is the integral of an exponential family, so M M″/M′² = 1 + cv²,
  where cv is the coefficient of variation of a normal variable cut off below 0. Its density is
  log-concave, so 0 < cv < 1.
* h′ = 0 exactly where κ = k(y) := y + M/M′, M′ = 1 + y M. As k′ = 2 − M M″/M′² > 0 and k rises from
  0 to ∞, h has no stationary point for κ ≤ 0, where it falls from 1; and exactly one for κ > 0: it
  rises from 1 to a top, then falls, and is 0 at y = κ.
* The height of the top, M²/M′ at k(y) = κ, rises with κ from 1 to ∞, as its derivative M (2 − M
  M″/M′²) is positive.
* 2/r² > 1, so h meets 2/r² twice or never: j rises throughout, or rises, falls on one interval, and
  rises again, to +∞ at θ̄. It falls exactly where κ > κ*(r) = k(y*), M²/M′ = 2/r² at y*.

So an owner's law is irregular exactly when √(1 − r²) Φ⁻¹(G(ε))/r > κ*(r): for ρ = −0.2 these are
the lowest 24.95 % of ε, for ρ = −0.5 the lowest 7.29 %, for ρ = −0.9 the lowest 0.0125 % (errata
E5); as ρ → 0 the share tends to one half and the falls to nothing, hard by θ̄. Where ε is so far
out that z/r > 8.3, the last rise lies between the two largest doubles of the support. For any other
law of θ with a non-increasing density f, dJ/dθ ≥ 2 − r² h(y) too, and κ ≤ κ* proves regularity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from smqopt.numeric import Floats, increasing_root

FARTHEST = 40.0
"""Scores beyond ± this are the ends of the support: Φ(−40) underflows."""
NEWTON_STEPS = 80
"""Steps of the safeguarded Newton method; half as many bisections reach the last bit."""


@dataclass(frozen=True)
class GaussianLink:
    """The Gaussian parameter of a copula, from Spearman's ρ."""

    correlation: float
    """Spearman's ρ in [−1, 1]: Pearson's of F(θ) and G(ε)."""

    @property
    def r(self) -> float:
        """The correlation 2 sin(πρ/6) of the normal scores (Pearson 1907)."""
        return 2.0 * math.sin(math.pi * self.correlation / 6.0)

    @property
    def s(self) -> float:
        """√(1 − r²), without cancellation near |ρ| = 1."""
        # 1 − 2 sin a = 2 (sin π/6 − sin a) = 4 cos((π/6 + a)/2) sin((π/6 − a)/2), a = π|ρ|/6
        rho = abs(self.correlation)
        gap = 4.0 * math.cos(math.pi * (1.0 + rho) / 12.0) * math.sin(math.pi * (1.0 - rho) / 12.0)
        return math.sqrt(max(gap, 0.0) * (1.0 + abs(self.r)))


def rent(link: GaussianLink, x: Floats, y: Floats, z: Floats) -> Floats:
    """Return Φ(y)/c(u) = s φ(x) M(y): the information rent of the score u.

    0 at x = −∞, +∞ at x = ∞.
    """
    r, s = link.r, link.s
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        left = 0.5 * s * np.exp(-0.5 * x * x) * erfcx(-np.minimum(y, 0.0) / math.sqrt(2.0))
        w = (r * x - z) / s
        right = s * ndtr(y) * np.exp(0.5 * (w - z) * (w + z))
    return np.where(y < 0, left, right)


def slope_sign(link: GaussianLink, y: Floats, z: Floats) -> Floats:
    """Return dj/du = 2 − r² M(y) (κ − y) = 2 + M(y) r w, w = r y − s z.

    −∞ or +∞ where it overflows.
    """
    with np.errstate(over="ignore"):
        mills = math.sqrt(0.5 * math.pi) * erfcx(-y / math.sqrt(2.0))
        return 2.0 + mills * (link.r * (link.r * y - link.s * z))


def critical_kappa(r: float) -> tuple[float, float]:
    """Return y* and κ*: irregular exactly where κ = s z/r > κ*, 0 < |r| < 1.

    Examples
    --------
    >>> y, kappa = critical_kappa(2 * math.sin(math.pi / 12))
    >>> round(y, 9), round(kappa, 9)
    (1.894814656, 2.404222812)
    """
    goal = math.log(2.0) - 2.0 * math.log(abs(r))

    def excess(y: Floats, _: object) -> Floats:
        log_mills = _log_mills(y)
        # log(M²/M′), M′ = M (y + 1/M)
        return np.asarray(log_mills - np.log(y + np.exp(-log_mills)) - goal)

    top = np.array([2.0 + math.sqrt(2.0 * goal + 2.0)])
    y = increasing_root(excess, np.array([0.0]), top)
    return float(y[0]), float(_kappa(y)[0])


def falls(link: GaussianLink, z: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Find where j falls.

    The owners whose law is irregular, and the scores y₁ < y₂ between which it does.

    Parameters
    ----------
    link
        With 0 < |ρ| < 1.
    z
        Shape (n,): the normal scores of ε.

    Returns
    -------
    owner, y₁, y₂
        Arrays of one length, increasing in owner.
    """
    r, s = link.r, link.s
    y_star, kappa_star = critical_kappa(r)
    every = (s / r) * z
    owner = np.flatnonzero(every > kappa_star)
    kappa = every[owner]
    goal = math.log(2.0) - 2.0 * math.log(abs(r))

    def log_h(y: Floats, k: NDArray[np.intp]) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(_log_mills(y) + np.log(kappa[k] - y) - goal)

    # κ − k⁻¹(κ) = M/M′ falls in y, so it is at most κ* − y*
    top = increasing_root(lambda y, k: _kappa(y) - kappa[k], kappa - (kappa_star - y_star), kappa)
    # h(0) = √(π/2) κ < 2/r² puts y₁ above 0; M > √(π/2) exp(y²/2) puts h above 2/r² at √(2
    # log(4/(r² κ √(π/2)))), if that is below κ/2
    half = 0.5 * math.log(0.5 * math.pi)
    lowest = np.where(half + np.log(kappa) < goal, 0.0, -FARTHEST)
    reached = np.sqrt(2.0 * np.maximum(math.log(2.0) + goal - half - np.log(kappa), 0.0))
    highest = np.where((reached > 0) & (reached < 0.5 * kappa), np.minimum(reached, top), top)
    first = increasing_root(log_h, lowest, highest)
    last = increasing_root(lambda y, k: -log_h(y, k), top, kappa)
    return owner, first, last


@dataclass(frozen=True)
class Bitangents:
    """The straight pieces of the hulls of q F⁻¹(q), in units of the support.

    Arrays of one length, one piece an owner.
    """

    owner: NDArray[np.intp]
    low: Floats
    """The normal score x of the threshold at the lower end."""
    high: Floats
    """The normal score x of the threshold at the upper end."""
    slope: Floats


def bitangents(link: GaussianLink, z: Floats) -> Bitangents:
    """Find the flat piece of every irregular owner, for uniform θ.

    With slope σ between the valley j(y₂) and the peak j(y₁), let a(σ) ≤ y₁ and b(σ) ≥ y₂ be where j
    = σ. The slope of the hull is the root of (σ − u_b)(q_b − q_a) − (u_b − u_a) q_a, which rises in
    σ with slope q_b − q_a: Newton's step from σ is the slope of the chord from a(σ) to b(σ).
    Differences of u and q are those of their survivals, so that nothing is lost near θ̄.
    """
    r, s = link.r, link.s
    owner, y1, y2 = falls(link, z)
    score = z[owner]

    peak, valley = _cost(link, y1, score), _cost(link, y2, score)
    # up to the peak the density rises, so u < j < 2u there
    nearest = np.minimum((ndtri(0.5 * valley) - r * score) / s, y1)
    # at the upper bound E ≥ log(4/s), so j ≥ 4 Φ(y) > 2, while the peak is at most 2
    farthest = (s / r) * score + (np.abs(score) + math.sqrt(2.0 * math.log(4.0 / s))) / abs(r)
    # where the valley is beyond the last score, b is θ̄ itself
    closest = np.where(s * y2 + r * score > FARTHEST, farthest, y2)
    a, b = (nearest, y1.copy()), (closest, farthest)  # brackets of a(σ) and b(σ); both rise in σ
    low, high, slope = y1.copy(), y2.copy(), np.maximum(valley, np.minimum(peak, 1.0))
    below, above = valley.copy(), peak.copy()
    active = np.arange(owner.size)
    for _ in range(NEWTON_STEPS):
        if active.size == 0:
            break
        zed, sigma = score[active], slope[active]
        y_a, y_b = (_where_j_is(link, sigma, zed, left[active], right[active]) for left, right in (a, b))
        chord = ndtr(s * y_b + r * zed) + ndtr(y_a) * (_rise(s * y_a + r * zed, s * y_b + r * zed) / _rise(y_a, y_b))
        is_above = sigma >= chord
        for bracket, here in ((a, y_a), (b, y_b), ((below, above), sigma)):
            bracket[0][active] = np.where(is_above, bracket[0][active], here)
            bracket[1][active] = np.where(is_above, here, bracket[1][active])
        inside = (chord >= below[active]) & (chord <= above[active])
        step = np.where(inside, chord, 0.5 * (below[active] + above[active]))
        low[active], high[active], slope[active] = y_a, y_b, step
        fine = 2 * np.spacing(sigma)
        done = (np.abs(step - sigma) <= fine) | (above[active] - below[active] <= fine)
        active = active[~done]
    return Bitangents(owner, s * low + r * score, s * high + r * score, slope)


def _cost(link: GaussianLink, y: Floats, z: Floats) -> Floats:
    """Return j at the conditional score y."""
    x = link.s * y + link.r * z
    return np.asarray(ndtr(x) + rent(link, x, y, z))


def _where_j_is(link: GaussianLink, sigma: Floats, z: Floats, low: Floats, high: Floats) -> Floats:
    """Return the score between low and high at which j = σ.

    An end where there is none.
    """
    return increasing_root(lambda y, k: _cost(link, y, z[k]) - sigma[k], low, high)


def _rise(a: Floats, b: Floats) -> Floats:
    """Return Φ(b) − Φ(a) for a < b, from the nearer tail."""
    upper = a + b > 0
    low, high = np.where(upper, -b, a), np.where(upper, -a, b)
    return np.asarray(ndtr(high) - ndtr(low))


def _log_mills(y: Floats) -> Floats:
    return np.asarray(log_ndtr(y) + 0.5 * y * y + 0.5 * math.log(2.0 * math.pi))


def _kappa(y: Floats) -> Floats:
    """k(y) = y + M/(1 + y M) = y + 1/(y + 1/M), for y > 0."""
    return np.asarray(y + 1.0 / (y + np.exp(-_log_mills(y))))
