"""The logistic law, truncated."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._polished_quantile import polished_quantile


@final
class Logistic(Valuation):
    """P(Θ ≤ θ) = 1/(1 + e^(−(θ − mean)/scale)) before truncation to [low, high].

    With d = (θ − low)/scale and p the probability below low before truncation, J(θ) = θ + scale (p
    (e^d − 1) + (1 − p)(1 − e^(−d))).

    Parameters
    ----------
    mean
        The mean before truncation, in currency; any number; scalar or shape (n,).
    scale
        In currency, scale > 0; scalar or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, scale ≤ 0, or the support is empty or negative.

    Examples
    --------
    >>> F = Logistic(1, 0.5, low=0, high=3)
    >>> round(float(F.inverse_virtual_cost(F.virtual_cost(0.5))), 12)
    0.5
    """

    name = "logistic"
    parameters = ("mean", "scale", "low", "high")
    has_closed_form = False
    formula = (
        "(1/(1 + exp((mean - theta)/scale)) - 1/(1 + exp((mean - low)/scale)))"
        "/(1/(1 + exp((mean - high)/scale)) - 1/(1 + exp((mean - low)/scale)))"
    )

    mean: float | Floats
    scale: float | Floats

    def __init__(self, mean: ArrayLike, scale: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        given = checked_parameters("logistic", mean=mean, scale=scale, low=low, high=high)
        require(
            "logistic", "scale", given["scale"], np.asarray(given["scale"]) > 0, "must be positive", "use scale > 0"
        )
        checked_support("logistic", given["low"], given["high"])
        self.mean, self.scale, self.low, self.high = given["mean"], given["scale"], given["low"], given["high"]

    # With G = expit: G(t) − G(s) = G(t) (1 − G(s)) (1 − e^(−(t − s)))

    def cdf(self, t: ArrayLike) -> Floats:
        theta = self._in_support(t)
        log_ratio = self._log_below(theta)
        return np.asarray(np.exp(log_ratio) * np.expm1(-self._distance(theta)) / np.expm1(-self.width / self.scale))

    def log_cdf(self, t: ArrayLike) -> Floats:
        theta = self._in_support(t)
        log_ratio = self._log_below(theta)
        F, S = self.cdf(theta), self._survival(theta)
        with np.errstate(divide="ignore"):
            share = np.log(np.expm1(-self._distance(theta)) / np.expm1(-self.width / self.scale))
            return np.where(F < 0.5, log_ratio + share, np.log1p(-S))

    def log_survival(self, t: ArrayLike) -> Floats:
        theta = self._in_support(t)
        F = self.cdf(theta)
        with np.errstate(divide="ignore"):
            return np.where(F < 0.5, np.log1p(-F), self._log_survival(theta))

    def pdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        inside = (theta >= self.low) & (theta <= self.high)
        x = self._in_support(theta)
        log_density = self._log_below(x) + self._log_above(x)
        density = np.exp(log_density) / (-np.expm1(-self.width / self.scale) * self.scale)
        return np.where(inside, density, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        return polished_quantile(self, q, self._rough_quantile)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        d, p = self._distance(theta), expit(self._standard(self.low))
        with np.errstate(over="ignore", invalid="ignore"):  # J may exceed the largest double
            # p (e^d − 1) with p = e^z/(1 + e^z), where p underflows
            growth = np.where(d < 1.0, p * np.expm1(d), np.exp(d + log_expit(self._standard(self.low))) - p)
            rent = self.scale * (growth - expit(-self._standard(self.low)) * np.expm1(-d))
        return np.where((theta >= self.low) & (theta <= self.high), theta + rent, np.nan)

    def scaled(self, factor: float) -> Self:
        return self._with(
            mean=factor * self.mean, scale=factor * self.scale, low=factor * self.low, high=factor * self.high
        )

    def regularity(self) -> Verdict:
        return Regular("the density, and with it F, is log-concave, truncated or not")

    def _in_support(self, t: ArrayLike) -> Floats:
        return np.asarray(np.clip(np.asarray(t, dtype=np.float64), self.low, self.high))

    def _standard(self, theta: float | Floats) -> Floats:
        return np.asarray((theta - self.mean) / self.scale)

    def _distance(self, t: ArrayLike) -> Floats:
        return np.asarray((self._in_support(t) - self.low) / self.scale)

    def _log_below(self, theta: Floats) -> Floats:
        """Give log(G(θ)/G(high)), in the lower tail by way of high − θ."""
        z, high = self._standard(theta), self._standard(self.high)
        tail = log_expit(-z) - log_expit(-high) - (self.high - theta) / self.scale
        return np.where(high < 0, tail, log_expit(z) - log_expit(high))

    def _log_above(self, theta: Floats) -> Floats:
        """Give log((1 − G(θ))/(1 − G(low))), in the upper tail by way of θ − low."""
        z, low = self._standard(theta), self._standard(self.low)
        tail = log_expit(z) - log_expit(low) - self._distance(theta)
        return np.where(low > 0, tail, log_expit(-z) - log_expit(-low))

    def _survival(self, theta: Floats) -> Floats:
        return np.exp(self._log_survival(theta))

    def _log_survival(self, theta: Floats) -> Floats:
        rest = (self.high - theta) / self.scale
        log_ratio = self._log_above(theta)
        with np.errstate(divide="ignore"):
            return np.asarray(log_ratio + np.log(np.expm1(-rest) / np.expm1(-self.width / self.scale)))

    def _rough_quantile(self, q: Floats) -> Floats:
        """Solve F = q for e^(−d): with c = e^(−(low − mean)/scale), F ∝ (1 − e^(−d))/(1 + c e^(−d))."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            c = np.exp(-self._standard(self.low))
            share = q * -np.expm1(-self.width / self.scale) / (1.0 + c * np.exp(-self.width / self.scale))
            return np.asarray(self.low + self.scale * (np.log1p(share * c) - np.log1p(-share)))
