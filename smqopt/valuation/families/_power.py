"""The power law."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._hazard_rule import LOG_CONCAVE, HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._quantile import polish_where_coarse


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
    in_currency = ("low", "high")
    table_pays = False
    formula = "((theta - low)/(high - low))**k"

    k: float | Floats

    def __init__(self, k: ArrayLike, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        vars(self).update(checked_law("power", ("k",), k=k, low=low, high=high))

    def _cdf(self, theta: Floats) -> Floats:
        return self._share(theta) ** self.k

    def _log_cdf(self, theta: Floats) -> Floats:
        return self.k * self._log_share(theta)

    def _log_survival(self, theta: Floats) -> Floats:
        return np.log(-np.expm1(self._log_cdf(theta)))

    def _pdf(self, theta: Floats) -> Floats:  # f(low) is infinite for k < 1
        return self.k * self._share(theta) ** (np.asarray(self.k) - 1.0) / self.width

    def _ppf(self, q: Floats) -> Floats:
        return polish_where_coarse(self, q, self.low + self.width * q ** (1.0 / np.asarray(self.k)))

    def _virtual_cost(self, theta: Floats) -> Floats:
        return theta + (theta - self.low) / self.k

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        share = 1.0 / (1.0 + 1.0 / np.asarray(self.k))  # k/(k+1), also where k is tiny or huge
        return self.low + share * (v - self.low)

    def _offer(self, v: Floats) -> tuple[Floats, Floats]:
        theta = np.clip(self._inverse_virtual_cost(v), self.low, self.high)
        return theta, self._cdf(theta)

    def _regularity(self) -> Verdict:
        return Regular("J(θ) = θ + (θ − low)/k has slope 1 + 1/k")

    def _has_falling_density(self) -> Any:
        return self.k <= 1

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(np.asarray(self.k) >= 1, LOG_CONCAVE, np.asarray(self.k) < 1)

    def _share(self, theta: Floats) -> Floats:
        return (theta - self.low) / self.width

    def _log_share(self, theta: Floats) -> Floats:
        """Compute log x, x = (θ − low)/width, to full relative accuracy at both ends."""
        x = self._share(theta)
        return np.where(x < 0.5, np.log(x), np.log1p(-(self.high - theta) / self.width))
