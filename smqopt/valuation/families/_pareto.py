"""The Pareto law, truncated."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._by_cumulative_hazard import TruncatedByHazard


@final
class Pareto(TruncatedByHazard):
    """F(θ) = (1 − (low/θ)^a)/(1 − (low/high)^a) on [low, high], so J(θ) = θ + θ((θ/low)^a − 1)/a.

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
    has_closed_form = False
    formula = "(1 - (low/theta)**a)/(1 - (low/high)**a)"

    a: float | Floats

    def __init__(self, a: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        given = checked_parameters("pareto", a=a, low=low, high=high)
        require("pareto", "a", given["a"], np.asarray(given["a"]) > 0, "must be positive", "use a > 0")
        require("pareto", "low", given["low"], np.asarray(given["low"]) > 0, "must be positive", "use low > 0")
        checked_support("pareto", given["low"], given["high"])
        self.a, self.low, self.high = given["a"], given["low"], given["high"]

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        a, price = np.asarray(self.a), np.asarray(v, dtype=np.float64)
        with np.errstate(over="ignore"):
            root = np.sqrt(np.maximum(price, 0.0)) * np.sqrt(self.low)  # a = 1
        unit = np.clip(np.where(np.isnan(price), np.nan, root), self.low, self.high)
        return unit if np.all(a == 1.0) else np.where(a == 1.0, unit, super().inverse_virtual_cost(v))

    def scaled(self, factor: float) -> Self:
        return self._with(a=self.a, low=factor * self.low, high=factor * self.high)

    def regularity(self) -> Verdict:
        return Regular("the density is non-increasing, so J′ = 2 − F f′/f² ≥ 2")

    def _heaped(self, s: Floats, t: Floats) -> Floats:
        near = (t - s) < s
        return np.asarray(self.a * np.where(near, np.log1p((t - s) / s), np.log(t / s)))

    def _log_heaped(self, theta: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self._from_low(theta))

    def _heaped_over_hazard(self, theta: Floats) -> Floats:
        return np.asarray(theta * (self._from_low(theta) / self.a))

    def _heaped_inverse(self, hazard: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(self.low * np.exp(hazard / self.a))

    def _hazard(self, theta: Floats) -> Floats:
        return np.asarray(self.a / theta)
