"""What laws share that cut a law known by its functions alone."""

from __future__ import annotations

import abc
from itertools import pairwise

import numpy as np

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._quadrature import BOTH, integrate
from smqopt.valuation.truncation._quantile import polish_quantile

SMALLEST = 1e-290
"""Below this a probability may have lost digits to underflow, and its logarithm speaks for it."""
CANCELLED = 2.0**-4
"""Differences of less than this share of their first term are found by quadrature of the density,
where that settles."""


class TruncatedByMass(Valuation):
    """F(θ) = (G(θ) − G(low))/(G(high) − G(low)), G the whole law.

    So F/f = (G(θ) − G(low))/g(θ), whatever high is.

    Masses are differences of G below its median and of 1 − G above it, never of numbers near 1;
    where both have underflowed, of their logarithms; and where even such a difference cancels,
    Gauss–Legendre sums of g on 16 and on 24 nodes replace it, provided that they agree (they do
    where g is smooth).
    """

    @abc.abstractmethod
    def _whole_cdf(self, theta: Floats) -> Floats:
        """Compute G(θ)."""

    @abc.abstractmethod
    def _whole_survival(self, theta: Floats) -> Floats:
        """Compute 1 − G(θ), to full relative accuracy where that can be had."""

    @abc.abstractmethod
    def _whole_log_cdf(self, theta: Floats) -> Floats:
        """Compute log G(θ), also where G underflows."""

    @abc.abstractmethod
    def _whole_log_survival(self, theta: Floats) -> Floats:
        """Compute log(1 − G(θ)), also where 1 − G underflows."""

    @abc.abstractmethod
    def _whole_pdf(self, theta: Floats) -> Floats:
        """Compute g(θ)."""

    @abc.abstractmethod
    def _whole_log_pdf(self, theta: Floats) -> Floats:
        """Compute log g(θ), also where g underflows."""

    @abc.abstractmethod
    def _rough_quantile(self, q: Floats) -> Floats:
        """Compute F⁻¹(q) to a few digits; may be wrong, or NaN, in far tails."""

    def _cdf(self, theta: Floats) -> Floats:
        shape, x, low, high = self.spread(theta)
        law = self.at(np.arange(x.size))
        mass, scale = law.interval_mass(low, x)
        total, total_scale = law.mass_of_support(low, high)
        F = np.clip(mass / total * np.exp(scale - total_scale), 0.0, 1.0)
        return np.where(x <= low, 0.0, np.where(x >= high, 1.0, F)).reshape(shape)

    def _log_cdf(self, theta: Floats) -> Floats:
        below, above = self._log_shares(theta)
        return np.where(below <= above, below, np.log1p(-np.exp(above)))

    def _log_survival(self, theta: Floats) -> Floats:
        below, above = self._log_shares(theta)
        return np.where(above <= below, above, np.log1p(-np.exp(below)))

    def _pdf(self, theta: Floats) -> Floats:
        shape, x, low, high = self.spread(theta)
        law = self.at(np.arange(x.size))
        total, scale = law.mass_of_support(low, high)
        return (law.density(x, scale) / total).reshape(shape)

    def _ppf(self, q: Floats) -> Floats:
        return polish_quantile(self, q, self._rough_quantile)

    def _virtual_cost(self, theta: Floats) -> Floats:
        shape, x, low, _ = self.spread(theta)
        law = self.at(np.arange(x.size))
        mass, scale = law.interval_mass(low, x)
        g = law.density(x, np.zeros(x.shape))
        rent = mass / g
        faint = (scale != 0) | ~(g >= SMALLEST)
        if np.any(faint):
            rent = np.where(faint, mass / law.density(x, scale, by_logarithm=True), rent)
        return (x + np.where(x <= low, 0.0, np.where(np.isnan(rent), np.inf, rent))).reshape(shape)

    # --- inside -----------------------------------------------------------------------------------

    def _joints(self) -> Floats:
        """Return where g may jump, not falling along the first axis; shape (k,) or (k, n)."""
        return np.empty((0,) if self.size is None else (0, self.size))

    def mass_of_support(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Compute the mass of the support, as `interval_mass` does; of a common law once."""
        if self.size is not None:
            return self.interval_mass(low, high)
        if "_known_total" not in vars(self):
            self._known_total = self.interval_mass(np.array([self.low]), np.array([self.high]))
        return self._known_total

    def density(self, x: Floats, scale: Floats, *, by_logarithm: bool = False) -> Floats:
        """Compute g(x) e^(−scale), by log g where the scale is not 0, or everywhere."""
        g = self._whole_pdf(x)
        scaled = (scale != 0) | by_logarithm
        return np.where(scaled, np.exp(self._whole_log_pdf(x) - scale), g) if np.any(scaled) else g

    def _log_shares(self, theta: Floats) -> tuple[Floats, Floats]:
        """Compute log F and log(1 − F), the smaller one to its last digits."""
        shape, x, low, high = self.spread(theta)
        law = self.at(np.arange(x.size))
        total, total_scale = law.mass_of_support(low, high)
        below, above = (
            np.log(mass / total) + (scale - total_scale)
            for mass, scale in (law.interval_mass(low, x), law.interval_mass(x, high))
        )
        below = np.where(x <= low, -np.inf, np.where(x >= high, 0.0, np.minimum(below, 0.0)))
        above = np.where(x <= low, 0.0, np.where(x >= high, -np.inf, np.minimum(above, 0.0)))
        return below.reshape(shape), above.reshape(shape)

    def interval_mass(self, s: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Compute G(t) − G(s) as a mass times the exponential of a scale.

        The scale is 0 but where the mass would underflow.

        Parameters
        ----------
        s, t
            Shape (m,), s ≤ t; a law an owner has m owners.
        """
        G_s, G_t, S_s, S_t = self._whole_cdf(s), self._whole_cdf(t), self._whole_survival(s), self._whole_survival(t)
        lower = G_t <= 0.5
        upper = ~lower & (S_s <= 0.5)
        head = np.where(lower, G_t, np.where(upper, S_s, 1.0))
        mass = np.where(lower, G_t - G_s, np.where(upper, S_s - S_t, (0.5 - G_s) + (0.5 - S_t)))
        scale = np.zeros(s.shape)
        faint = head < SMALLEST
        if np.any(faint):
            first = np.where(lower, self._whole_log_cdf(t), self._whole_log_survival(s))
            second = np.where(lower, self._whole_log_cdf(s), self._whole_log_survival(t))
            scale = np.where(faint & np.isfinite(first), first, 0.0)
            mass = np.where(faint, np.where(np.isfinite(first), -np.expm1(second - first), 0.0), mass)
            head = np.where(faint, 1.0, head)
        near = np.flatnonzero((mass < CANCELLED * head) & (t > s))
        if near.size:
            law, shift = self.at(np.tile(near, BOTH.size)), np.tile(scale[near], BOTH.size)
            joints = self._joints()[:, np.newaxis] if self.size is None else self._joints()[:, near]
            joints = np.clip(joints, s[near], t[near])
            unknown, whole = np.full(near.size, np.nan), np.zeros(near.size)
            for a, b in pairwise([s[near], *joints, t[near]]):
                if np.any(a < b):
                    whole += integrate(lambda x: law.density(x, shift), a, b, unknown, head[near])
            mass[near] = np.where(np.isfinite(whole), whole, mass[near])
        return mass, scale
