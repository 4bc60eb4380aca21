"""The exponential law, truncated."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import wrightomega

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._verdict import Regular, Verdict

_LARGEST_EXPONENT = 700.0
"""expm1 overflows above 709.78."""


@final
class TruncatedExponential(Valuation):
    """F(θ) = (1 − e^(−r(θ − low)))/(1 − e^(−r(high − low))) on [low, high], so J(θ) = θ + (e^(r(θ − low)) − 1)/r.

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
        given = checked_parameters("truncated-exponential", rate=rate, low=low, high=high)
        require(
            "truncated-exponential",
            "rate",
            given["rate"],
            np.asarray(given["rate"]) > 0,
            "must be positive",
            "use rate > 0",
        )
        checked_support("truncated-exponential", given["low"], given["high"])
        self.rate, self.low, self.high = given["rate"], given["low"], given["high"]

    @property
    def mass(self) -> float | Floats:
        """The probability 1 − e^(−r(high − low)) that the untruncated law leaves on the support."""
        mass = -np.expm1(-np.asarray(self.rate * self.width))
        return float(mass) if mass.ndim == 0 else mass

    def cdf(self, t: ArrayLike) -> Floats:
        return np.asarray(np.clip(-np.expm1(-self._scaled_distance(t)) / self.mass, 0.0, 1.0))

    def pdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        density = self.rate * np.exp(-self._scaled_distance(theta)) / self.mass
        return np.where((theta >= self.low) & (theta <= self.high), density, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        good = (u >= 0) & (u <= 1)
        p = np.where(good, u, 0.0)
        tail = np.exp(-np.asarray(self.rate * self.width))
        with np.errstate(divide="ignore"):  # the branch not taken may be log(0)
            # y = r(θ − low): 1 − p Z = (1 − p) + p e^(−r width)
            y = np.where(p * self.mass < 0.5, -np.log1p(-p * self.mass), -np.log((1.0 - p) + p * tail))
        theta = np.where(p == 1.0, self.high, self.low + y / self.rate)
        return np.where(good, np.clip(theta, self.low, self.high), np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        with np.errstate(over="ignore"):  # J may exceed the largest double where r·width is beyond 709
            cost = theta + np.expm1(self._scaled_distance(theta)) / self.rate
        return np.where((theta >= self.low) & (theta <= self.high), cost, np.nan)

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        # With y = r(θ − low) and w = r(v − low): y + expm1(y) = w, so y = log ω(1 + w), ω Wright's omega function.
        # The logarithm is good to an absolute 1e-16 only; two Newton steps make that relative.
        price = np.asarray(v, dtype=np.float64)
        with np.errstate(over="ignore"):  # beyond the largest double lies high
            w = np.maximum(self.rate * (price - self.low), 0.0)
        y = np.log(wrightomega(np.minimum(1.0 + w, np.finfo(np.float64).max)))
        for _ in range(2):
            slope_less_one = np.exp(np.minimum(y, _LARGEST_EXPONENT))
            step = (y + np.expm1(np.minimum(y, _LARGEST_EXPONENT)) - w) / (1.0 + slope_less_one)
            y = np.where(y < _LARGEST_EXPONENT, y - step, y)
        theta = np.where(np.isposinf(price), self.high, self.low + y / self.rate)
        return np.clip(theta, self.low, self.high)

    def scaled(self, factor: float) -> Self:
        return self._with(rate=self.rate / factor, low=factor * self.low, high=factor * self.high)

    def regularity(self) -> Verdict:
        return Regular("the density is non-increasing, so J′ = 2 − F f′/f² ≥ 2")

    def _scaled_distance(self, t: ArrayLike) -> Floats:
        theta = np.clip(np.asarray(t, dtype=np.float64), self.low, self.high)
        return np.asarray(self.rate * (theta - self.low))
