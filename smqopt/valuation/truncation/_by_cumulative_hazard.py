"""What the laws share whose cumulative hazard before truncation is elementary."""

from __future__ import annotations

import abc

import numpy as np

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.truncation._quantile import polish_quantile


class TruncatedByHazard(Valuation):
    """F = (1 − e^(−H))/(1 − e^(−H̄)), H(θ) the hazard from low to θ, H̄ up to high.

    F/f = (e^H − 1)/H′.
    """

    @abc.abstractmethod
    def _cumulative_hazard(self, s: Floats, t: Floats) -> Floats:
        """Integrate the hazard from s to t ≥ s, to full relative accuracy."""

    @abc.abstractmethod
    def _inverse_cumulative_hazard(self, hazard: Floats) -> Floats:
        """Compute θ from H(θ), to the last digits of θ − low."""

    @abc.abstractmethod
    def _log_cumulative_hazard(self, theta: Floats) -> Floats:
        """Compute log H(θ), also where H underflows."""

    @abc.abstractmethod
    def _cumulative_hazard_over_hazard(self, theta: Floats) -> Floats:
        """Compute H/H′, in currency, also where both underflow."""

    @abc.abstractmethod
    def _hazard(self, theta: Floats) -> Floats:
        """Compute H′(θ), in 1/currency."""

    def _cdf(self, theta: Floats) -> Floats:
        return np.clip(np.expm1(-self._from_low(theta)) / np.expm1(-self._all()), 0.0, 1.0)

    def _log_cdf(self, theta: Floats) -> Floats:
        F = self._cdf(theta)
        lower = np.where(F > 0, np.log(F), self._log_cumulative_hazard(theta) - np.log(-np.expm1(-self._all())))
        survival = np.expm1(-self._to_high(theta)) * np.exp(-self._from_low(theta)) / np.expm1(-self._all())
        return np.where(F < 0.5, lower, np.log1p(-survival))

    def _log_survival(self, theta: Floats) -> Floats:
        F = self._cdf(theta)
        mass_above = -np.expm1(-self._to_high(theta)) / -np.expm1(-self._all())
        return np.where(F < 0.5, np.log1p(-F), np.log(mass_above) - self._from_low(theta))

    def _pdf(self, theta: Floats) -> Floats:
        decay = np.exp(-self._from_low(theta))  # at low the hazard may be infinite
        return np.where(decay > 0, self._hazard(theta) * decay, 0.0) / -np.expm1(-self._all())

    def _ppf(self, q: Floats) -> Floats:
        return polish_quantile(self, q, self._rough_quantile)

    def _virtual_cost(self, theta: Floats) -> Floats:
        H = self._from_low(theta)
        rent = self._cumulative_hazard_over_hazard(theta) * np.where(H > 0, np.expm1(H) / H, 1.0)
        return theta + np.where(theta <= self.low, 0.0, np.where(np.isposinf(H), np.inf, rent))

    # --- inside -----------------------------------------------------------------------------------

    def _rough_quantile(self, q: Floats) -> Floats:
        total = self._all()
        mass = -np.expm1(-total)
        # 1 − q mass = (1 − q) + q e^(−H̄)
        hazard = np.where(q * mass < 0.5, -np.log1p(-q * mass), -np.log((1.0 - q) + q * np.exp(-total)))
        return self._inverse_cumulative_hazard(hazard)

    def _from_low(self, theta: Floats) -> Floats:
        return self._cumulative_hazard(np.asarray(self.low), theta)

    def _to_high(self, theta: Floats) -> Floats:
        return self._cumulative_hazard(theta, np.asarray(self.high))

    def _all(self) -> Floats:
        return self._cumulative_hazard(np.asarray(self.low), np.asarray(self.high))
