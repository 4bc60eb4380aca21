"""What the laws share that are a parent law truncated to the support."""

from __future__ import annotations

import abc

import numpy as np

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.truncation._parent import Parent, interval_mass
from smqopt.valuation.truncation._quantile import polish_quantile


class TruncatedFamily(Valuation):
    """F(θ) = (G(θ) − G(low))/(G(high) − G(low)), G a parent law.

    So F/f = (G(θ) − G(low))/g(θ), whatever high is.
    """

    _known_total: tuple[Floats, Floats]
    """What `_total` has found, once it was asked."""

    @abc.abstractmethod
    def _parent(self) -> Parent:
        """Return the parent law."""

    @abc.abstractmethod
    def _coordinate(self, theta: Floats) -> Floats:
        """Return the parent's coordinate z of θ."""

    @abc.abstractmethod
    def _step(self, s: Floats, t: Floats) -> Floats:
        """Compute z(t) − z(s) for s ≤ t in the support, to full relative accuracy."""

    @abc.abstractmethod
    def _stretch(self, theta: Floats) -> Floats:
        """Compute dz/dθ, in 1/currency."""

    @abc.abstractmethod
    def _rough_quantile(self, q: Floats) -> Floats:
        """Compute F⁻¹(q) to a few digits; may be wrong in far tails."""

    def _cdf(self, theta: Floats) -> Floats:
        return np.exp(self._log_cdf(theta))

    def _log_cdf(self, theta: Floats) -> Floats:
        below, above = self._log_shares(theta)
        logarithm = np.where(below < above, below, np.log1p(-np.exp(above)))
        return np.where(theta <= self.low, -np.inf, np.where(theta >= self.high, 0.0, logarithm))

    def _log_survival(self, theta: Floats) -> Floats:
        below, above = self._log_shares(theta)
        logarithm = np.where(above < below, above, np.log1p(-np.exp(below)))
        return np.where(theta >= self.high, -np.inf, np.where(theta <= self.low, 0.0, logarithm))

    def _pdf(self, theta: Floats) -> Floats:
        total, reference = self._total()
        ratio = np.exp(self._log_density_ratio(theta, reference)) / total
        return np.where(ratio > 0, ratio * self._stretch(theta), 0.0)

    def _ppf(self, q: Floats) -> Floats:
        return polish_quantile(self, q, self._rough_quantile)

    def _virtual_cost(self, theta: Floats) -> Floats:
        low = np.asarray(self.low)
        z = self._coordinate(theta)
        step = self._step(low, theta)
        mass, reference = interval_mass(self._parent(), self._coordinate(low), z, step)
        at_low = np.where(reference < z, reference - z, 0.0)
        distance = np.where(reference == self._coordinate(low), -step, at_low)
        rent = mass * np.exp(self._parent().log_density_ratio(reference, z, distance)) / self._stretch(theta)
        return theta + np.where(theta <= low, 0.0, np.where(np.isnan(rent), np.inf, rent))

    # --- inside -----------------------------------------------------------------------------------

    def _total(self) -> tuple[Floats, Floats]:
        """Compute the mass of the support, and its reference point.

        In units of the density there: at the point of the support nearest to the centre.
        """
        if "_known_total" not in vars(self):
            low, high = np.asarray(self.low), np.asarray(self.high)
            ends = self._coordinate(low), self._coordinate(high)
            with np.errstate(all="ignore"):
                self._known_total = interval_mass(self._parent(), *ends, self._step(low, high))
        return self._known_total

    def _log_density_ratio(self, theta: Floats, reference: Floats) -> Floats:
        """Compute log(g(θ)/g(r)), r the reference of the whole support."""
        z, low, high = self._coordinate(theta), np.asarray(self.low), np.asarray(self.high)
        step = np.where(
            reference == self._coordinate(low),
            self._step(low, theta),
            np.where(reference == self._coordinate(high), -self._step(theta, high), z - reference),
        )
        return self._parent().log_density_ratio(z, reference, step)

    def _log_shares(self, theta: Floats) -> tuple[Floats, Floats]:
        """Compute log F and log(1 − F), the smaller of which has full relative accuracy."""
        parent, low, high = self._parent(), np.asarray(self.low), np.asarray(self.high)
        z = self._coordinate(theta)
        total, reference = self._total()
        with np.errstate(all="ignore"):
            below, at_below = interval_mass(parent, self._coordinate(low), z, self._step(low, theta))
            above, at_above = interval_mass(parent, z, self._coordinate(high), self._step(theta, high))
            here = self._log_density_ratio(theta, reference)
            log_below = np.log(below / total) + np.where(at_below == reference, 0.0, here)
            log_above = np.log(above / total) + np.where(at_above == reference, 0.0, here)
        return log_below, log_above
