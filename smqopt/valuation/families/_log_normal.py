"""The log-normal law, truncated."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import FALL, Floats
from smqopt.valuation.law._hazard_rule import HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._by_parent import TruncatedFamily
from smqopt.valuation.truncation._standard_normal import StandardNormal, normal_quantile_within

_FORMULA = (
    "(erf((log(theta) - mu)/(sqrt(2)*sigma)) - erf((log(low) - mu)/(sqrt(2)*sigma)))"
    "/(erf((log(high) - mu)/(sqrt(2)*sigma)) - erf((log(low) - mu)/(sqrt(2)*sigma)))"
)


@final
class LogNormal(TruncatedFamily):
    """log θ is normal before truncation to [low, high].

    Parameters
    ----------
    mu
        The mean of log θ before truncation; any number; scalar or shape (n,).
    sigma
        The standard deviation of log θ before truncation, sigma > 0; scalar or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, sigma ≤ 0, or the support is empty or negative.

    Examples
    --------
    >>> F = LogNormal(0, 1, low=0, high=3)
    >>> round(float(F.inverse_virtual_cost(F.virtual_cost(0.5))), 12)
    0.5
    """

    name = "log-normal"
    reads_table = True
    parameters = ("mu", "sigma", "low", "high")
    has_closed_form = False

    mu: float | Floats
    sigma: float | Floats

    def __init__(self, mu: ArrayLike, sigma: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        vars(self).update(checked_law("log-normal", ("sigma",), mu=mu, sigma=sigma, low=low, high=high))

    @property
    def formula(self) -> str:  # type: ignore[override]
        """F(θ) as text, where low > 0; at low = 0 it would hold log 0."""
        return _FORMULA if np.all(np.asarray(self.low) > 0) else ""

    # `_rescale` is the default: a factor times θ adds log(factor) to mu, which would round.

    def _regularity(self) -> Verdict:
        return Regular("F is log-concave: log Φ is concave and increasing and log θ concave; truncation keeps that")

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(self._is_log_concave(), "log high ≤ μ + 1 − σ²: the density is log-concave up to there")

    def _is_log_concave(self) -> Any:
        """Tell whether f is log-concave: log high ≤ μ + 1 − σ².

        The slope of log f is −(1 + (log θ − μ)/σ²)/θ, which falls as long as log θ ≤ μ + 1 − σ².
        """
        turn, top = self.mu + 1.0 - np.square(self.sigma), np.log(self.high)
        return turn - top > FALL.value * (np.abs(turn) + np.abs(top))

    def _parent(self) -> StandardNormal:
        return StandardNormal()

    def _coordinate(self, theta: Floats) -> Floats:
        return np.asarray((np.log(theta) - self.mu) / self.sigma)

    def _step(self, s: Floats, t: Floats) -> Floats:
        near = np.log1p((t - s) / s)
        return np.asarray(np.where(s > 0, near, np.where(t > 0, np.inf, 0.0)) / self.sigma)

    def _stretch(self, theta: Floats) -> Floats:
        return np.asarray(1.0 / (self.sigma * theta))

    def _rough_quantile(self, q: Floats) -> Floats:
        low, high = (self._coordinate(np.asarray(end)) for end in (self.low, self.high))
        return np.asarray(np.exp(self.mu + self.sigma * normal_quantile_within(low, high, q)))
