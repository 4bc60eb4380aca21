"""The log-normal law, truncated."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._by_parent import TruncatedFamily
from smqopt.valuation.truncation._standard_normal import StandardNormal, normal_quantile_between

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
    parameters = ("mu", "sigma", "low", "high")
    has_closed_form = False

    mu: float | Floats
    sigma: float | Floats

    def __init__(self, mu: ArrayLike, sigma: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        given = checked_parameters("log-normal", mu=mu, sigma=sigma, low=low, high=high)
        require(
            "log-normal", "sigma", given["sigma"], np.asarray(given["sigma"]) > 0, "must be positive", "use sigma > 0"
        )
        checked_support("log-normal", given["low"], given["high"])
        self.mu, self.sigma, self.low, self.high = given["mu"], given["sigma"], given["low"], given["high"]

    @property
    def formula(self) -> str:  # type: ignore[override]
        """F(θ) as text, where low > 0; at low = 0 it would hold log 0."""
        return _FORMULA if np.all(np.asarray(self.low) > 0) else ""

    # `scaled` is the default: a factor times θ adds log(factor) to mu, which would round.

    def regularity(self) -> Verdict:
        return Regular("F is log-concave: log Φ is concave and increasing and log θ concave; truncation keeps that")

    def _parent(self) -> StandardNormal:
        return StandardNormal()

    def _coordinate(self, theta: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray((np.log(theta) - self.mu) / self.sigma)

    def _step(self, s: Floats, t: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.log1p((t - s) / s)
            return np.asarray(np.where(s > 0, near, np.where(t > 0, np.inf, 0.0)) / self.sigma)

    def _stretch(self, theta: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (self.sigma * theta))

    def _rough_quantile(self, q: Floats) -> Floats:
        low, high = (self._coordinate(np.asarray(end)) for end in (self.low, self.high))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.exp(self.mu + self.sigma * normal_quantile_between(low, high, q)))
