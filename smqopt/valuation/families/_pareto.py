"""The Pareto law, truncated."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import FALL, Floats
from smqopt.valuation.law._hazard_rule import HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._by_cumulative_hazard import TruncatedByHazard


@final
class Pareto(TruncatedByHazard):
    """F(θ) = (1 − (low/θ)^a)/(1 − (low/high)^a) on [low, high].

    J(θ) = θ + θ((θ/low)^a − 1)/a.

    For a = 1, J(θ) = θ²/low.

    Parameters
    ----------
    a
        The exponent, a > 0; scalar or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 < low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, a ≤ 0, low ≤ 0, or the support is empty.

    Examples
    --------
    >>> F = Pareto(1, low=1, high=4)
    >>> float(F.virtual_cost(2.0)), float(F.inverse_virtual_cost(9.0))
    (4.0, 3.0)
    """

    name = "pareto"
    parameters = ("a", "low", "high")
    in_currency = ("low", "high")
    has_closed_form = False
    formula = "(1 - (low/theta)**a)/(1 - (low/high)**a)"

    a: float | Floats

    def __init__(self, a: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        vars(self).update(checked_law("pareto", ("a", "low"), a=a, low=low, high=high))

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        unit = np.sqrt(np.maximum(v, 0.0)) * np.sqrt(self.low)  # a = 1
        a = np.asarray(self.a)
        return unit if np.all(a == 1.0) else np.where(a == 1.0, unit, super()._inverse_virtual_cost(v))

    def _regularity(self) -> Verdict:
        return Regular("the density is non-increasing, so J′ = 2 − F f′/f² ≥ 2")

    def _has_falling_density(self) -> Any:
        return True

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(
            self._margin() > FALL.value,
            "(1 + a)(low/high)^a ≥ 1",
            self._margin() < -FALL.value,
            "h = a/(θ (1 − (θ/high)^a)) falls as long as (1 + a)(θ/high)^a < 1",
        )

    def _margin(self) -> Floats:
        """Compute log((1 + a)(low/high)^a), by the sign of which h rises or falls at low."""
        return np.asarray(self.a * np.log(self.low / np.asarray(self.high)) + np.log1p(self.a))

    def _cumulative_hazard(self, s: Floats, t: Floats) -> Floats:
        near = (t - s) < s
        return np.asarray(self.a * np.where(near, np.log1p((t - s) / s), np.log(t / s)))

    def _log_cumulative_hazard(self, theta: Floats) -> Floats:
        return np.log(self._from_low(theta))

    def _cumulative_hazard_over_hazard(self, theta: Floats) -> Floats:
        return np.asarray(theta * (self._from_low(theta) / self.a))

    def _inverse_cumulative_hazard(self, hazard: Floats) -> Floats:
        return np.asarray(self.low * np.exp(hazard / self.a))

    def _hazard(self, theta: Floats) -> Floats:
        return np.asarray(self.a / theta)
