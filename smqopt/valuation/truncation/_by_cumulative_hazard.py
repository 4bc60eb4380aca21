"""What the laws share whose cumulative hazard before truncation is elementary."""

from __future__ import annotations

import abc

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation


class TruncatedByHazard(Valuation):
    """F = (1 − e^(−H))/(1 − e^(−H̄)), H(θ) the hazard heaped up from low to θ, H̄ up to high; so F/f = (e^H − 1)/H′."""

    @abc.abstractmethod
    def _heaped(self, s: Floats, t: Floats) -> Floats:
        """Give the hazard heaped up from s to t ≥ s, to full relative accuracy."""

    @abc.abstractmethod
    def _heaped_inverse(self, hazard: Floats) -> Floats:
        """Give θ from H(θ), to full relative accuracy of θ − low as far as doubles hold it."""

    @abc.abstractmethod
    def _log_heaped(self, theta: Floats) -> Floats:
        """Give log H(θ), also where H underflows."""

    @abc.abstractmethod
    def _heaped_over_hazard(self, theta: Floats) -> Floats:
        """Give H/H′, in currency, also where both underflow."""

    @abc.abstractmethod
    def _hazard(self, theta: Floats) -> Floats:
        """Give H′(θ), in 1/currency."""

    def cdf(self, t: ArrayLike) -> Floats:
        return np.asarray(np.clip(np.expm1(-self._from_low(t)) / np.expm1(-self._all()), 0.0, 1.0))

    def log_cdf(self, t: ArrayLike) -> Floats:
        theta, above = self._in_support(t), self._to_high(t)
        F = self.cdf(theta)
        with np.errstate(divide="ignore"):
            lower = np.where(F > 0, np.log(F), self._log_heaped(theta) - np.log(-np.expm1(-self._all())))
            return np.where(F < 0.5, lower, np.log1p(-self._survival(theta, above)))

    def log_survival(self, t: ArrayLike) -> Floats:
        theta, above = self._in_support(t), self._to_high(t)
        F = self.cdf(theta)
        with np.errstate(divide="ignore"):
            upper = np.log(-np.expm1(-above)) - self._from_low(theta) - np.log(-np.expm1(-self._all()))
            return np.where(F < 0.5, np.log1p(-F), upper)

    def pdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        inside = (theta >= self.low) & (theta <= self.high)
        x = self._in_support(theta)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # at low the hazard may be infinite
            decay = np.exp(-self._from_low(x))
            density = np.where(decay > 0, self._hazard(x) * decay, 0.0) / -np.expm1(-self._all())
        return np.where(inside, density, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        good = (u >= 0) & (u <= 1)
        p = np.where(good, u, 0.0)
        total = self._all()
        with np.errstate(divide="ignore"):
            mass = -np.expm1(-total)
            # 1 − p mass = (1 − p) + p e^(−H̄)
            hazard = np.where(p * mass < 0.5, -np.log1p(-p * mass), -np.log((1.0 - p) + p * np.exp(-total)))
        theta = np.where(p <= 0, self.low, np.where(p >= 1, self.high, self._heaped_inverse(hazard)))
        return np.where(good, np.clip(theta, self.low, self.high), np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        inside = (theta >= self.low) & (theta <= self.high)
        x = self._in_support(theta)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            heaped = self._from_low(x)
            rent = self._heaped_over_hazard(x) * np.where(heaped > 0, np.expm1(heaped) / heaped, 1.0)
            rent = np.where(np.isposinf(heaped), np.inf, rent)
        return np.where(inside, x + np.where(x <= self.low, 0.0, rent), np.nan)

    # --- inside ------------------------------------------------------------------------------------------------

    def _in_support(self, t: ArrayLike) -> Floats:
        return np.asarray(np.clip(np.asarray(t, dtype=np.float64), self.low, self.high))

    def _from_low(self, t: ArrayLike) -> Floats:
        return self._heaped(np.asarray(self.low), self._in_support(t))

    def _to_high(self, t: ArrayLike) -> Floats:
        return self._heaped(self._in_support(t), np.asarray(self.high))

    def _all(self) -> Floats:
        return self._heaped(np.asarray(self.low), np.asarray(self.high))

    def _survival(self, theta: Floats, above: Floats) -> Floats:
        return np.asarray(np.expm1(-above) * np.exp(-self._from_low(theta)) / np.expm1(-self._all()))
