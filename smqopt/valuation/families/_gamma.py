"""The gamma law, truncated."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from smqopt.numeric import Floats
from smqopt.valuation.law._hazard_rule import LOG_CONCAVE, HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._by_parent import TruncatedFamily
from smqopt.valuation.truncation._standard_gamma import StandardGamma


@final
class Gamma(TruncatedFamily):
    """Density proportional to θ^(shape−1) e^(−θ/scale) on [low, high].

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
    >>> F = Gamma(2, 1, low=0, high=5)
    >>> round(float(F.inverse_virtual_cost(F.virtual_cost(0.5))), 12)
    0.5
    """

    name = "gamma"
    reads_table = True
    parameters = ("shape", "scale", "low", "high")
    in_currency = ("scale", "low", "high")

    shape: float | Floats
    scale: float | Floats

    def __init__(self, shape: ArrayLike, scale: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        vars(self).update(checked_law("gamma", ("shape", "scale"), shape=shape, scale=scale, low=low, high=high))

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

    def _parent(self) -> StandardGamma:
        return StandardGamma(self.shape)

    def _coordinate(self, theta: Floats) -> Floats:
        return np.asarray(theta / self.scale)

    def _step(self, s: Floats, t: Floats) -> Floats:
        return np.asarray((t - s) / self.scale)

    def _stretch(self, theta: Floats) -> Floats:  # noqa: ARG002
        return np.asarray(1.0 / np.asarray(self.scale))

    def _rough_quantile(self, q: Floats) -> Floats:
        k = self.shape
        low, high = (self._coordinate(np.asarray(end)) for end in (self.low, self.high))
        p = (1.0 - q) * gammainc(k, low) + q * gammainc(k, high)
        rest = (1.0 - q) * gammaincc(k, low) + q * gammaincc(k, high)
        return np.asarray(self.scale * np.where(p < 0.5, gammaincinv(k, p), gammainccinv(k, rest)))
