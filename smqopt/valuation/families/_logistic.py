"""The logistic law, truncated."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._hazard_rule import LOG_CONCAVE, HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._quantile import polish_quantile


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
    reads_table = True
    parameters = ("mean", "scale", "low", "high")
    in_currency = ("mean", "scale", "low", "high")
    has_closed_form = False
    formula = (
        "(1/(1 + exp((mean - theta)/scale)) - 1/(1 + exp((mean - low)/scale)))"
        "/(1/(1 + exp((mean - high)/scale)) - 1/(1 + exp((mean - low)/scale)))"
    )

    mean: float | Floats
    scale: float | Floats

    def __init__(self, mean: ArrayLike, scale: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        vars(self).update(checked_law("logistic", ("scale",), mean=mean, scale=scale, low=low, high=high))

    # With G = expit: G(t) − G(s) = G(t) (1 − G(s)) (1 − e^(−(t − s)))

    def _cdf(self, theta: Floats) -> Floats:
        return np.exp(self._log_below(theta)) * np.expm1(-self._distance(theta)) / np.expm1(-self.width / self.scale)

    def _log_cdf(self, theta: Floats) -> Floats:
        share = np.log(np.expm1(-self._distance(theta)) / np.expm1(-self.width / self.scale))
        S = np.exp(self._log_upper(theta))
        return np.where(self._cdf(theta) < 0.5, self._log_below(theta) + share, np.log1p(-S))

    def _log_survival(self, theta: Floats) -> Floats:
        F = self._cdf(theta)
        return np.where(F < 0.5, np.log1p(-F), self._log_upper(theta))

    def _pdf(self, theta: Floats) -> Floats:
        log_density = self._log_below(theta) + self._log_above(theta)
        return np.exp(log_density) / (-np.expm1(-self.width / self.scale) * self.scale)

    def _ppf(self, q: Floats) -> Floats:
        return polish_quantile(self, q, self._rough_quantile)

    def _virtual_cost(self, theta: Floats) -> Floats:
        d, p = self._distance(theta), expit(self._standard(self.low))
        # p (e^d − 1) with p = e^z/(1 + e^z), where p underflows
        growth = np.where(d < 1.0, p * np.expm1(d), np.exp(d + log_expit(self._standard(self.low))) - p)
        return theta + self.scale * (growth - expit(-self._standard(self.low)) * np.expm1(-d))

    def _regularity(self) -> Verdict:
        return Regular("the density, and with it F, is log-concave, truncated or not")

    def _has_falling_density(self) -> Any:
        return self.mean <= self.low

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(True, LOG_CONCAVE)

    def _standard(self, theta: float | Floats) -> Floats:
        return np.asarray((theta - self.mean) / self.scale)

    def _distance(self, theta: Floats) -> Floats:
        return (theta - self.low) / self.scale

    def _log_below(self, theta: Floats) -> Floats:
        """Compute log(G(θ)/G(high)), in the lower tail by way of high − θ."""
        z, high = self._standard(theta), self._standard(self.high)
        tail = log_expit(-z) - log_expit(-high) - (self.high - theta) / self.scale
        return np.where(high < 0, tail, log_expit(z) - log_expit(high))

    def _log_above(self, theta: Floats) -> Floats:
        """Compute log((1 − G(θ))/(1 − G(low))), in the upper tail by way of θ − low."""
        z, low = self._standard(theta), self._standard(self.low)
        tail = log_expit(z) - log_expit(low) - self._distance(theta)
        return np.where(low > 0, tail, log_expit(-z) - log_expit(-low))

    def _log_upper(self, theta: Floats) -> Floats:
        """Compute log(1 − F), sharp where F is large."""
        rest = (self.high - theta) / self.scale
        return self._log_above(theta) + np.log(np.expm1(-rest) / np.expm1(-self.width / self.scale))

    def _rough_quantile(self, q: Floats) -> Floats:
        """Solve F = q for e^(−d).

        With c = e^(−(low − mean)/scale), F ∝ (1 − e^(−d))/(1 + c e^(−d)).
        """
        c = np.exp(-self._standard(self.low))
        share = q * -np.expm1(-self.width / self.scale) / (1.0 + c * np.exp(-self.width / self.scale))
        return np.asarray(self.low + self.scale * (np.log1p(share * c) - np.log1p(-share)))
