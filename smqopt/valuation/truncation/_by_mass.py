"""What the laws share that know a whole law only by its functions, and keep the part of it between low and high."""

from __future__ import annotations

import abc

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import QUADRATURE, Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.truncation._polished_quantile import polished_quantile

SMALLEST = 1e-290
"""Below this a probability may have lost digits to underflow, and its logarithm speaks for it."""
CANCELLED = 2.0**-4
"""Differences of less than this share of their first term are found by quadrature of the density,
where that settles."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_FEWER_NODES, _FEWER_WEIGHTS = np.polynomial.legendre.leggauss(16)


class TruncatedByMass(Valuation):
    """F(θ) = (G(θ) − G(low))/(G(high) − G(low)), G the whole law; so F/f = (G(θ) − G(low))/g(θ), whatever high is.

    Masses are differences of G below its median and of 1 − G above it, never of numbers near 1;
    where both have underflowed, of their logarithms; and where even such a difference cancels,
    Gauss–Legendre sums of g on 16 and on 24 nodes replace it, provided that they agree (they do
    where g is smooth).
    """

    @abc.abstractmethod
    def _whole_cdf(self, theta: Floats) -> Floats:
        """Give G(θ)."""

    @abc.abstractmethod
    def _whole_survival(self, theta: Floats) -> Floats:
        """Give 1 − G(θ), to full relative accuracy where that can be had."""

    @abc.abstractmethod
    def _whole_log_cdf(self, theta: Floats) -> Floats:
        """Give log G(θ), also where G underflows."""

    @abc.abstractmethod
    def _whole_log_survival(self, theta: Floats) -> Floats:
        """Give log(1 − G(θ)), also where 1 − G underflows."""

    @abc.abstractmethod
    def _whole_pdf(self, theta: Floats) -> Floats:
        """Give g(θ)."""

    @abc.abstractmethod
    def _whole_log_pdf(self, theta: Floats) -> Floats:
        """Give log g(θ), also where g underflows."""

    @abc.abstractmethod
    def _rough_quantile(self, q: Floats) -> Floats:
        """Give F⁻¹(q) to a few digits; may be wrong, or NaN, in far tails."""

    def cdf(self, t: ArrayLike) -> Floats:
        shape, theta, low, high = self._broadcast(t)
        law, x = self._at(np.arange(theta.size)), np.clip(theta, low, high)
        assert isinstance(law, TruncatedByMass)  # noqa: S101
        with np.errstate(all="ignore"):
            mass, scale = law._mass(low, x)
            total, total_scale = law._mass(low, high)
            F = np.clip(mass / total * np.exp(scale - total_scale), 0.0, 1.0)
        return np.where(theta <= low, 0.0, np.where(theta >= high, 1.0, F)).reshape(shape)

    def log_cdf(self, t: ArrayLike) -> Floats:
        below, above = self._log_shares(t)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below <= above, below, np.log1p(-np.exp(above)))

    def log_survival(self, t: ArrayLike) -> Floats:
        below, above = self._log_shares(t)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(above <= below, above, np.log1p(-np.exp(below)))

    def pdf(self, t: ArrayLike) -> Floats:
        shape, theta, low, high = self._broadcast(t)
        law, x = self._at(np.arange(theta.size)), np.clip(theta, low, high)
        assert isinstance(law, TruncatedByMass)  # noqa: S101
        with np.errstate(all="ignore"):
            total, scale = law._mass(low, high)
            density = law._whole_pdf(x) / total
            if np.any(scale):
                density = np.where(scale == 0, density, np.exp(law._whole_log_pdf(x) - scale) / total)
        return np.where((theta >= low) & (theta <= high), density, 0.0).reshape(shape)

    def ppf(self, q: ArrayLike) -> Floats:
        return polished_quantile(self, q, self._rough_quantile)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        shape, theta, low, high = self._broadcast(t)
        law, x = self._at(np.arange(theta.size)), np.clip(theta, low, high)
        assert isinstance(law, TruncatedByMass)  # noqa: S101
        with np.errstate(all="ignore"):
            mass, scale = law._mass(low, x)
            g = law._whole_pdf(x)
            rent = mass / g
            faint = (scale != 0) | ~(g >= SMALLEST)
            if np.any(faint):
                rent = np.where(faint, mass * np.exp(scale - law._whole_log_pdf(x)), rent)
        rent = np.where(x <= low, 0.0, np.where(np.isnan(rent), np.inf, rent))
        return np.where((theta >= low) & (theta <= high), x + rent, np.nan).reshape(shape)

    # --- inside ------------------------------------------------------------------------------------------------

    def _log_shares(self, t: ArrayLike) -> tuple[Floats, Floats]:
        """Give log F and log(1 − F), the smaller of which has full relative accuracy of its exponential."""
        shape, theta, low, high = self._broadcast(t)
        law, x = self._at(np.arange(theta.size)), np.clip(theta, low, high)
        assert isinstance(law, TruncatedByMass)  # noqa: S101
        with np.errstate(all="ignore"):
            total, total_scale = law._mass(low, high)
            below, above = (
                np.log(mass / total) + (scale - total_scale) for mass, scale in (law._mass(low, x), law._mass(x, high))
            )
        below = np.where(theta <= low, -np.inf, np.where(theta >= high, 0.0, np.minimum(below, 0.0)))
        above = np.where(theta <= low, 0.0, np.where(theta >= high, -np.inf, np.minimum(above, 0.0)))
        return below.reshape(shape), above.reshape(shape)

    def _mass(self, s: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Give G(t) − G(s) as a mass times the exponential of a scale, which is 0 but where the mass would underflow.

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
            mass[near] = self._integrated(near, s[near], t[near], scale[near], mass[near])
        return mass, scale

    def _integrated(self, index: NDArray[np.intp], s: Floats, t: Floats, scale: Floats, mass: Floats) -> Floats:
        """Give the integral of g from s to t where two Gauss–Legendre sums agree, else the mass that was found."""
        nodes = np.concatenate([_NODES, _FEWER_NODES])
        law = self._at(np.tile(index, nodes.size))
        assert isinstance(law, TruncatedByMass)  # noqa: S101
        half = 0.5 * (t - s)
        x = np.ravel(np.clip(s + half * (1.0 + nodes[:, None]), s, t))
        g = law._whole_pdf(x)
        if np.any(scale):
            scales = np.tile(scale, nodes.size)
            g = np.where(scales == 0, g, np.exp(law._whole_log_pdf(x) - scales))
        g = g.reshape(nodes.size, s.size)
        fine, coarse = half * (_WEIGHTS @ g[: _NODES.size]), half * (_FEWER_WEIGHTS @ g[_NODES.size :])
        settled = (np.abs(fine - coarse) <= QUADRATURE.value * fine) & np.isfinite(fine)
        return np.where(settled, fine, mass)
