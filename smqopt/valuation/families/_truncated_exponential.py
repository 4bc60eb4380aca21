"""The exponential law, truncated."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import wrightomega

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._hazard_rule import LOG_CONCAVE, HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._quantile import polish_where_coarse

_LARGEST_EXPONENT = 700.0
"""expm1 overflows above 709.78."""


@final
class TruncatedExponential(Valuation):
    """F(θ) = (1 − e^(−r(θ − low)))/(1 − e^(−r(high − low))) on [low, high].

    J(θ) = θ + (e^(r(θ − low)) − 1)/r.

    Truncation from above changes neither F/f nor J.

    Parameters
    ----------
    rate
        r > 0, in 1/currency; scalar or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, rate ≤ 0, or the support is empty or negative.

    Examples
    --------
    >>> F = TruncatedExponential(rate=2)
    >>> float(F.inverse_virtual_cost(F.virtual_cost(0.25)))
    0.25
    """

    name = "truncated-exponential"
    parameters = ("rate", "low", "high")
    formula = "(1 - exp(-rate*(theta - low)))/(1 - exp(-rate*(high - low)))"

    rate: float | Floats

    def __init__(self, rate: ArrayLike, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        vars(self).update(checked_law("truncated-exponential", ("rate",), rate=rate, low=low, high=high))

    @property
    def mass(self) -> float | Floats:
        """The probability that the untruncated law leaves on the support.

        1 − e^(−r(high − low)).
        """
        mass = -np.expm1(-np.asarray(self.rate * self.width))
        return float(mass) if mass.ndim == 0 else mass

    def _cdf(self, theta: Floats) -> Floats:
        return np.minimum(-np.expm1(-self._scaled_distance(theta)) / self.mass, 1.0)

    def _log_survival(self, theta: Floats) -> Floats:
        # (e^(−y) − e^(−r width))/mass with y = r(θ − low)
        F, rest = self._cdf(theta), -np.expm1(-self.rate * (self.high - theta))
        return np.where(F < 0.5, np.log1p(-F), np.log(rest / self.mass) - self._scaled_distance(theta))

    def _pdf(self, theta: Floats) -> Floats:
        return self.rate * np.exp(-self._scaled_distance(theta)) / self.mass

    def _ppf(self, q: Floats) -> Floats:
        # y = r(θ − low): 1 − q mass = (1 − q) + q e^(−r width)
        tail = np.exp(-np.asarray(self.rate * self.width))
        y = np.where(q * self.mass < 0.5, -np.log1p(-q * self.mass), -np.log((1.0 - q) + q * tail))
        return polish_where_coarse(self, q, self.low + y / self.rate)

    def _virtual_cost(self, theta: Floats) -> Floats:
        return theta + np.expm1(self._scaled_distance(theta)) / self.rate

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        # With y = r(θ − low) and w = r(v − low): y + expm1(y) = w, so y = log ω(1 + w), ω Wright's
        # omega function.
        # The logarithm is good to an absolute 1e-16 only; two Newton steps make that relative.
        w = np.maximum(self.rate * (v - self.low), 0.0)
        y = np.log(wrightomega(np.minimum(1.0 + w, np.finfo(np.float64).max)))
        for _ in range(2):
            slope_less_one = np.exp(np.minimum(y, _LARGEST_EXPONENT))
            step = (y + np.expm1(np.minimum(y, _LARGEST_EXPONENT)) - w) / (1.0 + slope_less_one)
            y = np.where(y < _LARGEST_EXPONENT, y - step, y)
        return self.low + y / self.rate

    def _rescale(self, factor: float) -> Self:
        return self.with_arguments({"rate": self.rate / factor, "low": factor * self.low, "high": factor * self.high})

    def _regularity(self) -> Verdict:
        return Regular("the density is non-increasing, so J′ = 2 − F f′/f² ≥ 2")

    def _has_falling_density(self) -> Any:
        return True

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(True, LOG_CONCAVE)

    def _scaled_distance(self, theta: Floats) -> Floats:
        return self.rate * (theta - self.low)
