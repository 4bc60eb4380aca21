"""The battery that every plugged-in law must pass: it keeps what a law of valuations promises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric.tolerances import DENSITY, ROUND_TRIP, SUPPORT_END
from smqopt.valuation.base import Floats, Valuation

__all__ = ["validate"]

MAX_OWNERS = 256
"""A law of more owners is tried on so many of them, evenly chosen."""
SHARES = np.linspace(0.0, 1.0, 33)
"""Points of the support, as shares of its width."""
STEP = 2.0**-12
"""Step of the differences, relative to the width of the support; two steps are combined (Richardson)."""
LEVELS = np.concatenate([np.linspace(0.0, 1.0, 17), 10.0 ** np.arange(-12, 0), 1 - 10.0 ** np.arange(-12, 0)])
"""Probabilities at which quantiles are taken: a grid and both tails."""
SPACINGS = 8
"""So many spacings of doubles round a quantile may be its error."""


def validate(law: Valuation) -> None:
    """Check support, monotonicity, mass, density against differences, quantiles against the cdf, and the virtual cost.

    Parameters
    ----------
    law
        Any law; of a law of many owners, evenly chosen ones are tried.

    Raises
    ------
    InputError
        Naming the law, the owner, the point and the two values that disagree.
    """
    owners = None if law.size is None else np.unique(np.linspace(0, law.size - 1, MAX_OWNERS).astype(np.intp))
    trial = _Trial(law if owners is None else law.take(owners), owners)
    trial.support()
    trial.interior()
    trial.quantiles()


class _Trial:
    def __init__(self, law: Valuation, owners: NDArray[np.intp] | None) -> None:
        self.law, self.owners = law, owners
        shape = (1,) if owners is None else owners.shape
        self.low, self.high = np.broadcast_to(law.low, shape), np.broadcast_to(law.high, shape)
        self.width = self.high - self.low

    def support(self) -> None:
        """F is 0 up to low and 1 from high on; the density is 0 outside."""
        for end, outside, level in ((self.low, -1.0, 0.0), (self.high, 1.0, 1.0)):
            beyond = end + outside * self.width
            at, far = self.law.cdf(end), self.law.cdf(beyond)
            self._agree(np.abs(at - level) <= SUPPORT_END.value, f"F must be {level:.0f} at this end", end, at, level)
            self._agree(far == level, f"F must be {level:.0f} outside the support", beyond, far, level)
            density = self.law.pdf(beyond)
            self._agree(density == 0, "f must be 0 outside the support", beyond, density, 0.0)

    def interior(self) -> None:
        """F rises and is finite; f is its derivative; J = θ + F/f."""
        F_before = self.law.cdf(self.low)
        for share in SHARES[1:-1]:
            t = self.low + share * self.width
            F, f = self.law.cdf(t), self.law.pdf(t)
            self._agree(np.isfinite(F) & (F >= 0) & (F <= 1), "F must lie between 0 and 1", t, F, 1.0)
            self._agree(F_before <= F, "F must not fall", t, F, F_before)
            self._agree(np.isfinite(f) & (f >= 0), "f must be finite and not negative inside", t, f, 0.0)
            slope = self._slope(t)
            close = np.abs(f - slope) * self.width <= DENSITY.value * (1 + f * self.width)
            self._agree(close, "f must be the derivative of F", t, f, slope)
            cost = self.law.virtual_cost(t)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                expected = t + F / f
            known = (f > 0) & np.isfinite(expected)
            close = ~known | (np.abs(cost - expected) <= ROUND_TRIP.value * np.abs(expected))
            self._agree(close, "the virtual cost must be θ + F/f", t, cost, expected)
            F_before = F

    def quantiles(self) -> None:
        """F(F⁻¹(u)) = u, on a grid and in both tails, as far as the spacing of doubles lets it."""
        before = self.low
        for u in np.sort(LEVELS):
            level = np.full(self.low.shape, u)
            theta = self.law.ppf(level)
            inside = (theta >= self.low) & (theta <= self.high)
            self._agree(inside, f"F⁻¹({u:.12g}) must lie in the support", theta, theta, self.high)
            self._agree(theta >= before, f"F⁻¹ must not fall, at u = {u:.12g}", theta, theta, before)
            slack = SPACINGS * np.spacing(theta)
            under, over = self.law.cdf(theta - slack), self.law.cdf(theta + slack)
            close = (under - ROUND_TRIP.value * u <= u) & (u <= over + ROUND_TRIP.value * u)
            self._agree(close, f"F(F⁻¹(u)) must be u, at u = {u:.12g}", theta, self.law.cdf(theta), level)
            before = theta

    def _slope(self, t: Floats) -> Floats:
        h = STEP * self.width
        coarse = (self.law.cdf(t + h) - self.law.cdf(t - h)) / (2 * h)
        fine = (self.law.cdf(t + h / 2) - self.law.cdf(t - h / 2)) / h
        slope: Floats = (4 * fine - coarse) / 3
        return slope

    def _agree(self, good: NDArray[np.bool_], rule: str, at: Floats, found: Floats, expected: Floats | float) -> None:
        bad = np.flatnonzero(~np.broadcast_to(good, self.low.shape))
        if bad.size:
            k = bad[0]
            owner = "" if self.owners is None else f" of owner {self.owners[k] + 1}"
            values = [float(np.broadcast_to(x, self.low.shape)[k]) for x in (found, expected, at)]
            shown = f"{values[0]!r} against {values[1]!r} at theta = {values[2]!r}"
            raise InputError(f"the {self.law.name} law{owner}", rule, value=shown, remedy="mend the law")
