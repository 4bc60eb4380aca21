"""The Kumaraswamy law."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._hazard_rule import HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.monotonicity._unbounded_density import falling_top
from smqopt.valuation.truncation._quantile import polish_where_coarse


@final
class Kumaraswamy(Valuation):
    """F(θ) = 1 − (1 − x^a)^b with x = (θ − low)/(high − low).

    (Kumaraswamy 1980, *J. Hydrology* 46).

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
    in_currency = ("low", "high")
    has_closed_form = False
    formula = "1 - (1 - ((theta - low)/(high - low))**a)**b"

    a: float | Floats
    b: float | Floats

    def __init__(self, a: ArrayLike, b: ArrayLike, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        vars(self).update(checked_law("kumaraswamy", ("a", "b"), a=a, b=b, low=low, high=high))

    def _cdf(self, theta: Floats) -> Floats:
        return np.asarray(-np.expm1(self._log_survival(theta)))

    def _log_cdf(self, theta: Floats) -> Floats:
        x, power, _, log_w = self._coordinates(theta)
        log_S = self.b * log_w
        F = np.where(log_S > -0.5, np.log(-np.expm1(log_S)), np.log1p(-np.exp(log_S)))
        return np.where(power > 0, F, np.log(self.b) + self.a * np.log(x))  # where x^a underflows, F is b x^a

    def _log_survival(self, theta: Floats) -> Floats:
        return np.asarray(self.b * self._coordinates(theta)[3])

    def _pdf(self, theta: Floats) -> Floats:  # at the ends it may be 0, finite or infinite
        x, _, w, _ = self._coordinates(theta)
        a, b = np.asarray(self.a), np.asarray(self.b)
        tail = np.where(b == 1.0, 1.0, w ** (b - 1.0))
        return np.asarray(a * b * x ** (a - 1.0) * tail / self.width)

    def _ppf(self, q: Floats) -> Floats:
        power = -np.expm1(np.log1p(-q) / self.b)
        x, log_x = power ** (1.0 / np.asarray(self.a)), np.log(power) / self.a
        theta = np.where(x < 0.5, self.low + self.width * x, self.high + self.width * np.expm1(log_x))
        return polish_where_coarse(self, q, theta)

    def _virtual_cost(self, theta: Floats) -> Floats:
        x, power, w, log_w = self._coordinates(theta)
        b = np.asarray(self.b)
        growth = np.where(-b * log_w < 1.0, w * np.expm1(-b * log_w), w ** (1.0 - b) - w) / (b * power)
        at_high = np.where(b > 1.0, np.inf, np.where(b < 1.0, 0.0, 1.0))
        growth = np.where(theta >= self.high, at_high, np.where(power > 0, growth, 1.0))  # 1 as x^a → 0
        growth = np.where(np.isnan(growth), at_high, growth)
        return theta + self.width * x / self.a * growth

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        b = np.asarray(self.b)
        share = 1.0 / (1.0 + 1.0 / np.asarray(self.a))
        power_law = self.low + share * (v - self.low)  # b = 1: J(θ) = θ + (θ − low)/a
        return power_law if np.all(b == 1.0) else np.where(b == 1.0, power_law, super()._inverse_virtual_cost(v))

    def _regularity(self) -> Verdict:
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

    def _has_falling_density(self) -> Any:
        return (np.asarray(self.a) <= 1) & (np.asarray(self.b) >= 1)

    def _turning_point(self) -> Floats:
        """f′ has the sign of (a − 1) − (a b − 1)x^a."""
        a, b = np.asarray(self.a), np.asarray(self.b)
        x = ((a - 1.0) / (a * b - 1.0)) ** (1.0 / a)
        return self.low + self.width * np.where((x > 0) & (x < 1), x, np.nan)

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(
            np.asarray(self.a) >= 1,
            "a ≥ 1: h = a b x^(a−1)/((1 − x^a)(high − low)), x = (θ − low)/(high − low)",
            np.asarray(self.a) < 1,
        )

    def _coordinates(self, theta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Compute x, x^a, w = 1 − x^a and log w, each good to the last digit."""
        x = np.asarray((theta - self.low) / self.width)
        y = np.asarray((self.high - theta) / self.width)
        power = x ** np.asarray(self.a)
        log_power = self.a * np.where(x < 0.5, np.log(x), np.log1p(-y))
        w = np.where(power < 0.5, 1.0 - power, -np.expm1(log_power))
        log_w = np.where(power < 0.5, np.log1p(-power), np.log(w))
        return x, power, w, log_w
