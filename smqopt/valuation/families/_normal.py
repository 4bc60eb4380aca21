"""The normal law, truncated."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._hazard_rule import LOG_CONCAVE, HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._by_parent import TruncatedFamily
from smqopt.valuation.truncation._standard_normal import StandardNormal, normal_quantile_within


@final
class Normal(TruncatedFamily):
    """The normal law truncated to [low, high].

    Parameters
    ----------
    mean
        The mean before truncation, in currency; any number; scalar or shape (n,).
    sd
        The standard deviation before truncation, in currency, sd > 0; scalar or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, sd ≤ 0, or the support is empty or negative.

    Examples
    --------
    >>> F = Normal(0, 1, low=8, high=9)
    >>> round(float(F.ppf(0.9)), 4)
    8.2786
    """

    name = "normal"
    reads_table = True
    parameters = ("mean", "sd", "low", "high")
    in_currency = ("mean", "sd", "low", "high")
    has_closed_form = False
    formula = (
        "(erf((theta - mean)/(sqrt(2)*sd)) - erf((low - mean)/(sqrt(2)*sd)))"
        "/(erf((high - mean)/(sqrt(2)*sd)) - erf((low - mean)/(sqrt(2)*sd)))"
    )

    mean: float | Floats
    sd: float | Floats

    def __init__(self, mean: ArrayLike, sd: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        vars(self).update(checked_law("normal", ("sd",), mean=mean, sd=sd, low=low, high=high))

    def _regularity(self) -> Verdict:
        return Regular("the density, and with it F, is log-concave, truncated or not")

    def _has_falling_density(self) -> Any:
        return self.mean <= self.low

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(True, LOG_CONCAVE)

    def _parent(self) -> StandardNormal:
        return StandardNormal()

    def _coordinate(self, theta: Floats) -> Floats:
        return np.asarray((theta - self.mean) / self.sd)

    def _step(self, s: Floats, t: Floats) -> Floats:
        return np.asarray((t - s) / self.sd)

    def _stretch(self, theta: Floats) -> Floats:  # noqa: ARG002
        return np.asarray(1.0 / np.asarray(self.sd))

    def _rough_quantile(self, q: Floats) -> Floats:
        low, high = (self._coordinate(np.asarray(end)) for end in (self.low, self.high))
        return np.asarray(self.mean + self.sd * normal_quantile_within(low, high, q))
