"""The triangular law."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._verdict import Regular, Verdict


@final
class Triangular(Valuation):
    """A density that rises from low to its mode and falls from there to high, in straight lines.

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
    table_pays = False

    mode: float | Floats

    def __init__(self, low: ArrayLike, mode: ArrayLike, high: ArrayLike) -> None:
        given = checked_parameters("triangular", low=low, mode=mode, high=high)
        checked_support("triangular", given["low"], given["high"])
        inside = (np.asarray(given["mode"]) >= given["low"]) & (np.asarray(given["mode"]) <= given["high"])
        require("triangular", "mode", given["mode"], inside, "must lie in [low, high]", "move the mode")
        self.low, self.mode, self.high = given["low"], given["mode"], given["high"]

    def cdf(self, t: ArrayLike) -> Floats:
        theta = self._in_support(t)
        with np.errstate(divide="ignore", invalid="ignore"):  # one side may be empty
            rising = self._risen(theta, self._left) / self.width
            falling = self._upper_mass(theta) / (self._right * self.width)
        return np.where(
            theta <= self.low, 0.0, np.where(theta < self.mode, rising, np.where(theta < self.high, falling, 1.0))
        )

    def log_cdf(self, t: ArrayLike) -> Floats:
        theta = self._in_support(t)
        F, S = self.cdf(theta), self._survival(theta)
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = 2.0 * np.log(theta - self.low) - np.log(self._left) - np.log(self.width)  # its square may underflow
            rising = np.where(theta < self.mode, tail, np.log(F))
            return np.where(F < 0.5, rising, np.log1p(-S))

    def log_survival(self, t: ArrayLike) -> Floats:
        theta = self._in_support(t)
        F, S = self.cdf(theta), self._survival(theta)
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = 2.0 * np.log(self.high - theta) - np.log(self._right) - np.log(self.width)
            falling = np.where(theta >= self.mode, tail, np.log(S))
            return np.where(F < 0.5, np.log1p(-F), np.where(theta >= self.high, -np.inf, falling))

    def pdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            rising = (theta - self.low) / self._left
            falling = (self.high - theta) / self._right
        height = np.where(theta < self.mode, rising, np.where(theta > self.mode, falling, 1.0))
        return np.where((theta >= self.low) & (theta <= self.high), 2.0 * height / self.width, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        good = (u >= 0) & (u <= 1)
        p = np.where(good, u, 0.0)
        rising = self.low + np.sqrt(p * self.width) * np.sqrt(self._left)
        # above the mode, in the distance d from it where that is the nearer end: d (2 right − d) = (p − F(mode)) width · right
        excess = p * self.width - self._left
        down = np.sqrt((1.0 - p) * self.width) * np.sqrt(self._right)
        with np.errstate(divide="ignore", invalid="ignore"):
            up = excess * self._right / (self._right + down)
        falling = np.where(up < 0.5 * self._right, self.mode + up, self.high - down)
        theta = np.where(excess <= 0, rising, falling)
        return np.where(good, np.clip(theta, self.low, self.high), np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        x = self._in_support(theta)
        y = self.high - x
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            falling = x + self._upper_mass(x) / (2.0 * y)
        at_high = np.where(np.asarray(self._right) > 0, np.inf, self.low + 1.5 * self.width)
        cost = np.where((x <= self.mode) & (x < self.high), self.low + 1.5 * (x - self.low), falling)
        cost = np.where(x >= self.high, at_high, cost)
        return np.where((theta >= self.low) & (theta <= self.high), cost, np.nan)

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        price = np.asarray(v, dtype=np.float64)
        above = price - self.low
        rising = self.low + above / 1.5
        # With d = θ − mode and e = v − J(mode): 3d²/2 − p d + right · e = 0, p = e + 3 right/2 + width/2; the lesser root, where nothing cancels.
        e = above - 1.5 * np.asarray(self._left)
        right = np.asarray(self._right)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            discriminant = np.hypot(price - self.high, np.sqrt(3.0 * self.width) * np.sqrt(right))
            d = 2.0 * right / ((1.0 + (1.5 * right + 0.5 * self.width) / e) + discriminant / e)
        theta = np.where(e <= 0, rising, np.where(np.isposinf(price), self.high, self.mode + d))
        return np.clip(np.where(np.isnan(price), np.nan, theta), self.low, self.high)

    def scaled(self, factor: float) -> Self:
        return self._with(low=factor * self.low, mode=factor * self.mode, high=factor * self.high)

    def regularity(self) -> Verdict:
        return Regular("the density is concave on its support, so it, and with it F, is log-concave")

    @property
    def _left(self) -> float | Floats:
        return self.mode - self.low

    @property
    def _right(self) -> float | Floats:
        return self.high - self.mode

    def _in_support(self, t: ArrayLike) -> Floats:
        return np.asarray(np.clip(np.asarray(t, dtype=np.float64), self.low, self.high))

    def _risen(self, theta: Floats, side: float | Floats) -> Floats:
        """Give (θ − low)²/side."""
        return np.asarray((theta - self.low) * ((theta - self.low) / side))

    def _upper_mass(self, theta: Floats) -> Floats:
        """Give K F(θ) = K − y² for θ from the mode on, as a sum of positive terms."""
        return np.asarray(self._right * self._left + (theta - self.mode) * (self._right + (self.high - theta)))

    def _survival(self, theta: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            falling = (self.high - theta) * ((self.high - theta) / self._right) / self.width
            # (high − low)(mode − low) − (θ − low)² as a sum of positive terms
            rest = self._right * self._left + (self.mode - theta) * (self._left + (theta - self.low))
            rising = rest / (self._left * self.width)
        return np.where(
            theta >= self.high, 0.0, np.where(theta >= self.mode, falling, np.where(theta <= self.low, 1.0, rising))
        )
