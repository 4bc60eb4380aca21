"""The Kumaraswamy law."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.monotonicity._unbounded_density import falling_top


@final
class Kumaraswamy(Valuation):
    """F(θ) = 1 − (1 − x^a)^b with x = (θ − low)/(high − low) (Kumaraswamy 1980, *J. Hydrology* 46).

    With w = 1 − x^a the information rent is F/f = width · x w (w^(−b) − 1)/(a b x^a). Regular
    exactly where b ≥ 1.

    Parameters
    ----------
    a, b
        Shapes, positive; scalars or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, a ≤ 0, b ≤ 0, or the support is empty or negative.

    Examples
    --------
    >>> F = Kumaraswamy(2, 3)
    >>> float(F.cdf(0.5)), round(float(F.inverse_virtual_cost(F.virtual_cost(0.25))), 15)
    (0.578125, 0.25)
    """

    name = "kumaraswamy"
    parameters = ("a", "b", "low", "high")
    has_closed_form = False
    formula = "1 - (1 - ((theta - low)/(high - low))**a)**b"

    a: float | Floats
    b: float | Floats

    def __init__(self, a: ArrayLike, b: ArrayLike, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        given = checked_parameters("kumaraswamy", a=a, b=b, low=low, high=high)
        for name in ("a", "b"):
            require(
                "kumaraswamy", name, given[name], np.asarray(given[name]) > 0, "must be positive", f"use {name} > 0"
            )
        checked_support("kumaraswamy", given["low"], given["high"])
        self.a, self.b, self.low, self.high = given["a"], given["b"], given["low"], given["high"]

    def cdf(self, t: ArrayLike) -> Floats:
        _, _, _, log_w = self._coordinates(t)
        return np.asarray(-np.expm1(self.b * log_w))

    def log_cdf(self, t: ArrayLike) -> Floats:
        x, power, _, log_w = self._coordinates(t)
        with np.errstate(divide="ignore"):  # where x^a underflows, F is b x^a
            log_S = self.b * log_w
            F = np.where(log_S > -0.5, np.log(-np.expm1(log_S)), np.log1p(-np.exp(log_S)))
            return np.where(power > 0, F, np.log(self.b) + self.a * np.log(x))

    def log_survival(self, t: ArrayLike) -> Floats:
        return np.asarray(self.b * self._coordinates(t)[3])

    def pdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        x, _, w, _ = self._coordinates(theta)
        a, b = np.asarray(self.a), np.asarray(self.b)
        with np.errstate(
            divide="ignore", over="ignore", invalid="ignore"
        ):  # at the ends f may be 0, finite or infinite
            tail = np.where(b == 1.0, 1.0, w ** (b - 1.0))
            density = a * b * x ** (a - 1.0) * tail / self.width
        return np.where((theta >= self.low) & (theta <= self.high), density, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        good = (u >= 0) & (u <= 1)
        with np.errstate(divide="ignore"):
            log_w = np.log1p(-np.where(good, u, 0.0)) / self.b
            power = -np.expm1(log_w)
            x, log_x = power ** (1.0 / np.asarray(self.a)), np.log(power) / self.a
        theta = np.where(x < 0.5, self.low + self.width * x, self.high + self.width * np.expm1(log_x))
        return np.where(good, np.clip(theta, self.low, self.high), np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        x, power, w, log_w = self._coordinates(theta)
        b = np.asarray(self.b)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            growth = np.where(-b * log_w < 1.0, w * np.expm1(-b * log_w), w ** (1.0 - b) - w) / (b * power)
        at_high = np.where(b > 1.0, np.inf, np.where(b < 1.0, 0.0, 1.0))
        growth = np.where(theta >= self.high, at_high, np.where(power > 0, growth, 1.0))  # 1 as x^a → 0
        growth = np.where(np.isnan(growth), at_high, growth)
        cost = theta + self.width * x / self.a * growth
        return np.where((theta >= self.low) & (theta <= self.high), cost, np.nan)

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        b = np.asarray(self.b)
        share = 1.0 / (1.0 + 1.0 / np.asarray(self.a))
        power_law = np.clip(
            self.low + share * (np.asarray(v, dtype=np.float64) - self.low), self.low, self.high
        )  # b = 1: J(θ) = θ + (θ − low)/a
        return power_law if np.all(b == 1.0) else np.where(b == 1.0, power_law, super().inverse_virtual_cost(v))

    def scaled(self, factor: float) -> Self:
        return self._with(a=self.a, b=self.b, low=factor * self.low, high=factor * self.high)

    def regularity(self) -> Verdict:
        bad = np.flatnonzero(np.atleast_1d(self.b) < 1.0)
        if bad.size == 0:
            return Regular(
                "b ≥ 1: where a ≥ 1 the density, and with it F, is log-concave; where a < 1 the density is non-increasing"
            )
        owner = None if self.size is None else int(bad[0] if isinstance(self.b, np.ndarray) else 0)
        a, b = (value[owner or 0] if isinstance(value, np.ndarray) else value for value in (self.a, self.b))

        def cost(theta: Any, ends: Any) -> Any:
            width = ends[1] - ends[0]
            x = (theta - ends[0]) / width
            w = 1 - x ** type(x)(a)
            return theta + width * x * w * (w ** type(x)(-b) - 1) / (type(x)(a) * type(x)(b) * x ** type(x)(a))

        return falling_top(self.low, self.high, owner, cost, "b < 1: the density rises without bound towards high")

    def _coordinates(self, t: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
        """Give x, x^a, w = 1 − x^a and log w, each to full relative accuracy at both ends."""
        theta = np.clip(np.asarray(t, dtype=np.float64), self.low, self.high)
        x = np.asarray((theta - self.low) / self.width)
        y = np.asarray((self.high - theta) / self.width)
        with np.errstate(divide="ignore"):
            power = x ** np.asarray(self.a)
            log_power = self.a * np.where(x < 0.5, np.log(x), np.log1p(-y))
            w = np.where(power < 0.5, 1.0 - power, -np.expm1(log_power))
            log_w = np.where(power < 0.5, np.log1p(-power), np.log(w))
        return x, power, w, log_w
