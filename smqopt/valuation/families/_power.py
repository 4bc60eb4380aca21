"""The power law."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._verdict import Regular, Verdict


@final
class Power(Valuation):
    """F(θ) = ((θ − low)/(high − low))^k on [low, high], so J(θ) = θ + (θ − low)/k.

    Parameters
    ----------
    k
        The exponent, k > 0; scalar or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, k ≤ 0, or the support is empty or negative.

    Examples
    --------
    >>> F = Power(2)
    >>> float(F.cdf(0.5)), float(F.virtual_cost(0.5)), float(F.inverse_virtual_cost(0.75))
    (0.25, 0.75, 0.5)
    """

    name = "power"
    parameters = ("k", "low", "high")
    table_pays = False
    formula = "((theta - low)/(high - low))**k"

    k: float | Floats

    def __init__(self, k: ArrayLike, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        given = checked_parameters("power", k=k, low=low, high=high)
        require("power", "k", given["k"], np.asarray(given["k"]) > 0, "must be positive", "use k > 0")
        checked_support("power", given["low"], given["high"])
        self.k, self.low, self.high = given["k"], given["low"], given["high"]

    def cdf(self, t: ArrayLike) -> Floats:
        return np.asarray(self._share(t) ** self.k)

    def pdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        x = self._share(theta)
        with np.errstate(divide="ignore"):  # f(low) is infinite for k < 1
            density = self.k * x ** (np.asarray(self.k) - 1.0) / self.width
        return np.where((theta >= self.low) & (theta <= self.high), density, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        good = (u >= 0) & (u <= 1)
        theta = self.low + self.width * np.where(good, u, 0.0) ** (1.0 / np.asarray(self.k))
        return np.where(good, np.clip(theta, self.low, self.high), np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        return np.where((theta >= self.low) & (theta <= self.high), theta + (theta - self.low) / self.k, np.nan)

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        share = 1.0 / (1.0 + 1.0 / np.asarray(self.k))  # k/(k+1), also where k is tiny or huge
        theta = self.low + share * (np.asarray(v, dtype=np.float64) - self.low)
        return np.clip(theta, self.low, self.high)

    def scaled(self, factor: float) -> Self:
        return self._with(k=self.k, low=factor * self.low, high=factor * self.high)

    def regularity(self) -> Verdict:
        return Regular("J(θ) = θ + (θ − low)/k has slope 1 + 1/k")

    def _share(self, t: ArrayLike) -> Floats:
        theta = np.clip(np.asarray(t, dtype=np.float64), self.low, self.high)
        return np.asarray((theta - self.low) / self.width)
