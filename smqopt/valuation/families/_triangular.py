"""The triangular law."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._hazard_rule import LOG_CONCAVE, HazardRule
from smqopt.valuation.law._parameters import checked_law, require
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.truncation._quantile import polish_where_coarse


@final
class Triangular(Valuation):
    """A density in straight lines from low up to its mode and down to high.

    J(θ) = low + 3(θ − low)/2 up to the mode; from there on, with y = high − θ and K = (high −
    low)(high − mode), J(θ) = high − 3y/2 + K/(2y). Both are inverted in closed form.

    Parameters
    ----------
    low, mode, high
        Low end of the support, top of the density, high end, in currency; scalars or shape (n,); 0
        ≤ low ≤ mode ≤ high, low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, the support is empty or negative, or the mode lies
        outside it.

    Examples
    --------
    >>> F = Triangular(0, 1, 2)
    >>> float(F.virtual_cost(1.5)), float(F.inverse_virtual_cost(3.25))
    (3.25, 1.5)
    """

    name = "triangular"
    parameters = ("low", "mode", "high")
    in_currency = ("low", "mode", "high")

    mode: float | Floats

    def __init__(self, low: ArrayLike, mode: ArrayLike, high: ArrayLike) -> None:
        vars(self).update(checked_law("triangular", (), low=low, mode=mode, high=high))
        inside = (np.asarray(self.mode) >= self.low) & (np.asarray(self.mode) <= self.high)
        require("triangular", "mode", self.mode, inside, "must lie in [low, high]", "move the mode")

    def _cdf(self, theta: Floats) -> Floats:
        rising = (theta - self.low) * ((theta - self.low) / self._left) / self.width  # one side may be empty
        falling = np.minimum(self._upper_mass(theta) / (self._right * self.width), 1.0)  # rounding may pass 1
        F = np.where(theta < self.mode, rising, np.where(theta < self.high, falling, 1.0))
        return np.where(theta <= self.low, 0.0, F)

    def _log_cdf(self, theta: Floats) -> Floats:
        F, S = self._cdf(theta), self._survival(theta)
        tail = 2.0 * np.log(theta - self.low) - np.log(self._left) - np.log(self.width)  # its square may underflow
        return np.where(F < 0.5, np.where(theta < self.mode, tail, np.log(F)), np.log1p(-S))

    def _log_survival(self, theta: Floats) -> Floats:
        F, S = self._cdf(theta), self._survival(theta)
        tail = 2.0 * np.log(self.high - theta) - np.log(self._right) - np.log(self.width)
        falling = np.where(theta >= self.mode, tail, np.log(S))
        return np.where(F < 0.5, np.log1p(-F), np.where(theta >= self.high, -np.inf, falling))

    def _pdf(self, theta: Floats) -> Floats:
        rising, falling = (theta - self.low) / self._left, (self.high - theta) / self._right
        height = np.where(theta < self.mode, rising, np.where(theta > self.mode, falling, 1.0))
        return 2.0 * height / self.width

    def _ppf(self, q: Floats) -> Floats:
        rising = self.low + np.sqrt(q * self.width) * np.sqrt(self._left)
        # above the mode, in the distance d from it where that is the nearer end: d (2 right − d) =
        # (q − F(mode)) width · right
        excess = q * self.width - self._left
        down = np.sqrt((1.0 - q) * self.width) * np.sqrt(self._right)
        up = excess * self._right / (self._right + down)
        falling = np.where(up < 0.5 * self._right, self.mode + up, self.high - down)
        return polish_where_coarse(self, q, np.where(excess <= 0, rising, falling))

    def _knots(self) -> Floats:
        return np.asarray(self.mode)[np.newaxis]  # where J turns

    def _virtual_cost(self, theta: Floats) -> Floats:
        falling = theta + self._upper_mass(theta) / (2.0 * (self.high - theta))
        at_high = np.where(np.asarray(self._right) > 0, np.inf, self.low + 1.5 * self.width)
        cost = np.where((theta <= self.mode) & (theta < self.high), self.low + 1.5 * (theta - self.low), falling)
        return np.where(theta >= self.high, at_high, cost)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        above = v - self.low
        # With d = θ − mode and e = v − J(mode): 3d²/2 − p d + right · e = 0, p = e + 3 right/2 +
        # width/2; the lesser root, where nothing cancels.
        e = above - 1.5 * np.asarray(self._left)
        right = np.asarray(self._right)
        discriminant = np.hypot(v - self.high, np.sqrt(3.0 * self.width) * np.sqrt(right))
        d = 2.0 * right / ((1.0 + (1.5 * right + 0.5 * self.width) / e) + discriminant / e)
        return np.where(e <= 0, self.low + above / 1.5, self.mode + d)

    def _regularity(self) -> Verdict:
        return Regular("the density is concave on its support, so it, and with it F, is log-concave")

    def _has_falling_density(self) -> Any:
        return self.mode <= self.low

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(True, LOG_CONCAVE)

    @property
    def _left(self) -> float | Floats:
        return self.mode - self.low

    @property
    def _right(self) -> float | Floats:
        return self.high - self.mode

    def _upper_mass(self, theta: Floats) -> Floats:
        """Compute K F(θ) = K − y² for θ from the mode on, as a sum of positive terms."""
        return np.asarray(self._right * self._left + (theta - self.mode) * (self._right + (self.high - theta)))

    def _survival(self, theta: Floats) -> Floats:
        falling = (self.high - theta) * ((self.high - theta) / self._right) / self.width
        # (high − low)(mode − low) − (θ − low)² as a sum of positive terms
        rest = self._right * self._left + (self.mode - theta) * (self._left + (theta - self.low))
        rising = rest / (self._left * self.width)
        return np.where(
            theta >= self.high, 0.0, np.where(theta >= self.mode, falling, np.where(theta <= self.low, 1.0, rising))
        )
