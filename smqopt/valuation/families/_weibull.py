"""The Weibull law, truncated."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._hazard_rule import LOG_CONCAVE, HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._by_cumulative_hazard import TruncatedByHazard

FAINT = 2.0**-60
"""Where H stays below this, e^(−H) is 1 − H to the last digit, and H counts by its ratios alone."""


@final
class Weibull(TruncatedByHazard):
    """P(Θ ≤ θ) = 1 − e^(−(θ/scale)^shape) before truncation to [low, high].

    Parameters
    ----------
    shape
        k > 0; scalar or shape (n,).
    scale
        In currency, scale > 0; scalar or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, shape ≤ 0, scale ≤ 0, or the support is empty or
        negative.

    Examples
    --------
    >>> F = Weibull(2, 1, low=0, high=3)
    >>> round(float(F.inverse_virtual_cost(F.virtual_cost(0.5))), 12)
    0.5
    """

    name = "weibull"
    parameters = ("shape", "scale", "low", "high")
    in_currency = ("scale", "low", "high")
    has_closed_form = False
    formula = "(1 - exp((low/scale)**shape - (theta/scale)**shape))/(1 - exp((low/scale)**shape - (high/scale)**shape))"

    shape: float | Floats
    scale: float | Floats

    def __init__(self, shape: ArrayLike, scale: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        vars(self).update(checked_law("weibull", ("shape", "scale"), shape=shape, scale=scale, low=low, high=high))

    def _regularity(self) -> Verdict:
        return Regular(
            "where shape ≥ 1 the density, and with it F, is log-concave; where shape < 1 the density is non-increasing; "
            "truncated or not"
        )

    def _has_falling_density(self) -> Any:
        return self.shape <= 1

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(
            np.asarray(self.shape) >= 1, LOG_CONCAVE, (np.asarray(self.shape) < 1) & (np.asarray(self.low) == 0)
        )

    @property
    def _unit(self) -> Floats:
        """The scale, or a smaller one where all of H is lost beside 1.

        It keeps H so, but far from underflow.
        """
        scale, k = np.asarray(self.scale), np.asarray(self.shape)
        return np.asarray(np.where((self.high / scale) ** k < FAINT, self.high * FAINT ** (-1.0 / k), scale))

    def _cumulative_hazard(self, s: Floats, t: Floats) -> Floats:
        # (t/c)^k − (s/c)^k, by way of log(t/s) where that is small
        k = np.asarray(self.shape)
        near = (t - s) < s
        step = k * np.log1p(np.where(near, (t - s) / s, 0.0))
        before = (s / self._unit) ** k
        grown = np.where(step < 1.0, before * np.expm1(step), (t / self._unit) ** k - before)
        return np.where(near, np.where(t > s, grown, 0.0), (t / self._unit) ** k - before)

    def _inverse_cumulative_hazard(self, hazard: Floats) -> Floats:
        k = np.asarray(self.shape)
        before = (self.low / self._unit) ** k
        near = self.low * np.exp(np.log1p(hazard / before) / k)
        return np.asarray(np.where(before > hazard, near, self._unit * (before + hazard) ** (1.0 / k)))

    def _log_cumulative_hazard(self, theta: Floats) -> Floats:
        k = np.asarray(self.shape)
        return np.asarray(k * np.log(theta / self._unit) + np.log(self._share(theta)))

    def _cumulative_hazard_over_hazard(self, theta: Floats) -> Floats:
        return np.asarray(theta / self.shape * self._share(theta))

    def _share(self, theta: Floats) -> Floats:
        """Compute 1 − (low/θ)^k."""
        low = np.asarray(self.low)
        near = (theta - low) < low
        logarithm = np.where(near, np.log1p((theta - low) / low), np.log(theta / low))
        return np.where(low > 0, -np.expm1(-self.shape * logarithm), 1.0)

    def _hazard(self, theta: Floats) -> Floats:
        k = np.asarray(self.shape)
        return np.asarray(k / self._unit * (theta / self._unit) ** (k - 1.0))
