"""The conformance tests that every plugged-in law must pass.

It keeps what a law of valuations promises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric import DENSITY, ROUND_TRIP, SUPPORT_END, Floats
from smqopt.valuation.law._base import Valuation

MAX_OWNERS = 256
"""A law of more owners is tried on so many of them, evenly chosen."""
SHARES = np.linspace(0.0, 1.0, 33)[1:-1]
"""Points of the support, as shares of its width."""
STEP = 2.0**-12
"""Step of the differences, relative to the width of the support; two steps are combined
(Richardson)."""
NEIGHBOUR = 16 * STEP
"""How far from a point its neighbour is taken, relative to the width of the support."""
TAIL = 10.0 ** np.arange(-12, 0)
LEVELS = np.sort(np.concatenate([np.linspace(0.0, 1.0, 17), TAIL, 1.0 - TAIL]))
"""Probabilities at which quantiles are taken: a grid and both tails."""
SPACINGS = 8
"""So many spacings of doubles round a quantile may be its error."""


def validate(law: Valuation, *, claims: bool = False) -> None:
    """Check that a law keeps what it promises.

    Support, monotonicity, mass, density against differences, quantiles against the cdf, and J.

    Parameters
    ----------
    law
        Any law; of a law of many owners, evenly chosen ones are tried.
    claims
        Whether the logarithms of F and 1 − F, the inverse virtual cost and the offer are checked
        too, which a law may override.

    Raises
    ------
    InputError
        Naming the law, the owner, the point and the two values that disagree.
    """
    for part, owners in law.parts():
        names = np.arange(law.size or 1)[owners]
        tried = np.unique(np.linspace(0, names.size - 1, MAX_OWNERS).astype(np.intp)) if part.size else None
        for check in (_support, _interior, _quantiles, *((_logarithms, _inverse) if claims else ())):
            with np.errstate(over="ignore"):  # beyond the largest double F is 1 too
                check(part, tried, names if law.size else None)


class _Trial:
    """Several points for each owner, laid out in one dimension, point by point."""

    def __init__(
        self, law: Valuation, tried: NDArray[np.intp] | None, names: NDArray[np.intp] | None, points: int
    ) -> None:
        rows = np.zeros(points, dtype=np.intp) if tried is None else np.tile(tried, points)
        self.law = law if tried is None else law.take(rows)
        self.per_point = 1 if tried is None else tried.size
        self.names = None if names is None else names[rows]
        self.low, self.high = (
            np.broadcast_to(law.low, law.size or 1)[rows],
            np.broadcast_to(law.high, law.size or 1)[rows],
        )
        self.width = self.high - self.low

    def spread(self, values: Floats) -> Floats:
        """Return each point's value to every owner."""
        return np.repeat(values, self.per_point)

    def before(self, values: Floats, first: Floats) -> Floats:
        """Return every owner the value at the point before."""
        return np.concatenate([first[: self.per_point], values[: -self.per_point]])

    def require(self, good: NDArray[np.bool_], rule: str, at: Floats, found: Floats, expected: Floats | float) -> None:
        """Raise an `InputError` at the first point that is not good."""
        bad = np.flatnonzero(~np.broadcast_to(good, self.low.shape))
        if bad.size:
            k = bad[0]
            owner = "" if self.names is None else f" of owner {self.names[k] + 1}"
            values = [float(np.broadcast_to(x, self.low.shape)[k]) for x in (found, expected, at)]
            shown = f"{values[0]!r} against {values[1]!r} at theta = {values[2]!r}"
            raise InputError(f"the {self.law.name} law{owner}", rule, value=shown, remedy="fix the law")


def _support(law: Valuation, tried: NDArray[np.intp] | None, names: NDArray[np.intp] | None) -> None:
    """F is 0 up to low and 1 from high on; the density is 0 outside."""
    trial = _Trial(law, tried, names, 1)
    for end, outside, level in ((trial.low, -1.0, 0.0), (trial.high, 1.0, 1.0)):
        beyond = end + outside * trial.width
        at, far = trial.law.cdf(end), trial.law.cdf(beyond)
        trial.require(np.abs(at - level) <= SUPPORT_END.value, f"F must be {level:.0f} at this end", end, at, level)
        trial.require(
            np.abs(far - level) <= SUPPORT_END.value, f"F must be {level:.0f} outside the support", beyond, far, level
        )
        density = trial.law.pdf(beyond)
        trial.require(density == 0, "f must be 0 outside the support", beyond, density, 0.0)


def _interior(law: Valuation, tried: NDArray[np.intp] | None, names: NDArray[np.intp] | None) -> None:
    """F rises and is finite; f is its derivative; J = θ + F/f."""
    trial = _Trial(law, tried, names, SHARES.size)
    t = trial.low + trial.spread(SHARES) * trial.width
    F, f = trial.law.cdf(t), trial.law.pdf(t)
    trial.require(np.isfinite(F) & (F >= 0) & (F <= 1), "F must lie between 0 and 1", t, F, 1.0)
    F_before = trial.before(F, np.zeros(F.size))
    trial.require(F_before - SUPPORT_END.value <= F, "F must not fall", t, F, F_before)
    trial.require(np.isfinite(f) & (f >= 0), "f must be finite and not negative inside", t, f, 0.0)
    close, slope = _is_slope(trial, t)
    # a density may jump at a point, but not at its neighbour too
    close |= _is_slope(trial, t + NEIGHBOUR * trial.width)[0]
    trial.require(close, "f must be the derivative of F", t, f, slope)
    cost = trial.law.virtual_cost(t)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        expected = t + F / f
        known = (f > 0) & np.isfinite(expected)
        close = ~known | (np.abs(cost - expected) <= ROUND_TRIP.value * np.abs(expected))
    trial.require(close, "the virtual cost must be θ + F/f", t, cost, expected)


def _quantiles(law: Valuation, tried: NDArray[np.intp] | None, names: NDArray[np.intp] | None) -> None:
    """Check F(F⁻¹(u)) = u on a grid and in both tails, as far as doubles let it."""
    trial = _Trial(law, tried, names, LEVELS.size)
    u = trial.spread(LEVELS)
    theta = trial.law.ppf(u)
    inside = (theta >= trial.low) & (theta <= trial.high)
    trial.require(inside, "F⁻¹ must lie in the support", theta, theta, trial.high)
    theta_before = trial.before(theta, trial.low)
    slack = SPACINGS * np.spacing(theta)
    trial.require(theta_before - slack <= theta, "F⁻¹ must not fall", theta, theta, theta_before)
    under, over = trial.law.cdf(theta - slack), trial.law.cdf(theta + slack)
    close = (under - ROUND_TRIP.value * u <= u) & (u <= over + ROUND_TRIP.value * u)
    trial.require(close, "F(F⁻¹(u)) must be u", theta, trial.law.cdf(theta), u)


def _logarithms(law: Valuation, tried: NDArray[np.intp] | None, names: NDArray[np.intp] | None) -> None:
    """The logarithms of F and 1 − F are what they are called, in probability."""
    trial = _Trial(law, tried, names, SHARES.size)
    t = trial.low + trial.spread(SHARES) * trial.width
    F = trial.law.cdf(t)
    with np.errstate(over="ignore"):
        below, above = np.exp(trial.law.log_cdf(t)), np.exp(trial.law.log_survival(t))
    trial.require(np.abs(below - F) <= ROUND_TRIP.value, "log F must be the logarithm of F", t, below, F)
    trial.require(
        np.abs(above - (1 - F)) <= ROUND_TRIP.value, "log(1 − F) must be the logarithm of 1 − F", t, above, 1 - F
    )


def _inverse(law: Valuation, tried: NDArray[np.intp] | None, names: NDArray[np.intp] | None) -> None:
    """J(J⁻¹(v)) = v as far as the spacing of doubles lets it, J jumping up or down.

    The offer at v is J⁻¹(v) and F there.
    """
    trial = _Trial(law, tried, names, SHARES.size)
    v = trial.law.virtual_cost(trial.low + trial.spread(SHARES) * trial.width)
    known = np.isfinite(v)
    v = np.where(known, v, trial.high)
    theta = trial.law.inverse_virtual_cost(v)
    inside = (theta >= trial.low) & (theta <= trial.high)
    trial.require(inside, "the inverse virtual cost must lie in the support", theta, theta, trial.high)
    slack = SPACINGS * np.spacing(theta)
    before, after = theta - slack, theta + slack
    J_before = np.where(before < trial.low, -np.inf, trial.law.virtual_cost(before))
    J_after = np.where(after > trial.high, np.inf, trial.law.virtual_cost(after))
    room = ROUND_TRIP.value * np.abs(v)
    met = (np.minimum(J_before, J_after) - room <= v) & (v <= np.maximum(J_before, J_after) + room)
    rule = "the inverse virtual cost must be where J is v"
    trial.require(met | ~known, rule, theta, trial.law.virtual_cost(theta), v)
    offered, accepted = trial.law.offer(v.copy())
    trial.require(np.abs(offered - theta) <= slack, "the offer must be the inverse virtual cost", theta, offered, theta)
    F_before, F_after = trial.law.cdf(before), trial.law.cdf(after)
    close = (F_before - ROUND_TRIP.value <= accepted) & (accepted <= F_after + ROUND_TRIP.value)
    trial.require(close, "the offer's acceptance must be F", theta, accepted, trial.law.cdf(theta))


def _is_slope(trial: _Trial, t: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Compare f with F′ by central differences with two steps, combined (Richardson)."""
    h = STEP * trial.width
    F, f = trial.law.cdf, trial.law.pdf(t)
    coarse, fine = (F(t + h) - F(t - h)) / (2 * h), (F(t + h / 2) - F(t - h / 2)) / h
    slope = (4 * fine - coarse) / 3
    return np.abs(f - slope) * trial.width <= DENSITY.value * (1 + f * trial.width), slope
