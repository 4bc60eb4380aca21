"""The price search: the largest x = 1/λ at which spend keeps within a target.

Spend rises in x. The search works on log spend against log x, which is a straight line for power
laws without caps, by inverse interpolation inside a bracket.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_ULP = 2.0**-53
CLOSE = 4 * _ULP
"""A search ends when log x is known this well: a few units in the last place of λ."""
SAMPLE = 1 << 13
"""Rows in the sample that starts a search."""
SAMPLE_CLOSE = 2.0**-14
"""The sample is off by more than this anyway."""
_RESOLVED = 2.0**-26
"""Points closer than this in log x say nothing of the slope: their difference in spend is mostly
rounding."""
_LONGEST_STEP = 40.0
"""In log x."""
_LARGEST = 2.0**1000
_MOST_STEPS = 400
"""Bisection alone needs fewer: 2,098 powers of two, halved eleven times, then 53 bits."""


@dataclass(frozen=True)
class Bracket:
    """Two neighbouring values of x = 1/λ with spend at most, and above, the target."""

    below: float
    spend_below: float
    above: float
    slope: float
    """d log spend / d log x near the answer."""
    steps: int


def search(spend: Callable[[float], float], target: float, start: float, slope: float, close: float) -> Bracket:
    """Find the largest x with spend(x) ≤ target, to a relative `close`.

    Spend does not fall in x.

    Each step evaluates spend once, at the root of the inverse interpolation through the last three
    points, less half of `close` so that it falls on the side that keeps the budget. Where that root
    leaves the bracket, or the bracket has not halved for three steps, the middle of the bracket (in
    log x) is taken.
    """
    below, spend_below, above = 0.0, 0.0, math.inf
    points: list[tuple[float, float]] = []
    x, width, stalled = start, math.inf, 0
    for step in range(1, _MOST_STEPS):
        total = spend(x)
        if total <= target:
            below, spend_below = x, total
        else:
            above = x
        if total > 0:
            points = [*points, (x, log_ratio(total, target))][-3:]
            slope = _secant_slope(points, slope)
            if total <= target and -points[-1][1] <= close * slope:
                return Bracket(below, spend_below, above, slope, step)
        if above <= below * (1.0 + 2.0 * close):
            return Bracket(below, spend_below, above, slope, step)
        bracket = log_ratio(above, below) if below > 0 and above < math.inf else math.inf
        stalled = 0 if bracket < 0.5 * width else stalled + 1
        width = min(width, bracket)
        x = _next(points, slope, close) if points and stalled < 3 else math.nan
        if not below < x < above:
            stalled = 0
            x = _middle(below, above, start, step)
            if not below < x < above:
                return Bracket(below, spend_below, above, slope, step)
    raise AssertionError("the price search did not end")


def log_ratio(a: float, b: float) -> float:
    """Return log(a/b) for a, b > 0, to full relative accuracy also for a near b.

    The same in every unit of a and b.
    """
    if abs(a - b) < 0.5 * b:
        return math.log1p((a - b) / b)
    ratio = a / b
    return math.log(ratio) if 0 < ratio < math.inf else math.log(a) - math.log(b)


def _secant_slope(points: list[tuple[float, float]], slope: float) -> float:
    """Return d log spend / d log x from two points that are not too close."""
    if len(points) < 2:
        return slope
    (x0, h0), (x1, h1) = points[-2:]
    run = log_ratio(x0, x1)
    secant = (h0 - h1) / run if abs(run) > _RESOLVED else slope
    return secant if secant > 0 else slope


def _next(points: list[tuple[float, float]], slope: float, close: float) -> float:
    """Return the inverse interpolation's root in log x, a little to the left."""
    x_last, h_last = points[-1]
    step = -h_last / slope
    if len(points) == 3:
        (x0, h0), (x1, h1), _ = points
        if h0 != h1 and h0 != h_last and h1 != h_last:
            t0, t1 = log_ratio(x0, x_last), log_ratio(x1, x_last)
            step = t0 * h1 * h_last / ((h0 - h1) * (h0 - h_last)) + t1 * h0 * h_last / ((h1 - h0) * (h1 - h_last))
    step = min(max(step, -_LONGEST_STEP), _LONGEST_STEP)
    return x_last * (1.0 + math.expm1(step - 0.5 * close))


def _middle(below: float, above: float, start: float, step: int) -> float:
    """Return the middle of the bracket in log x.

    Where one side is open, a point that moves off ever faster.
    """
    if below > 0 and above < math.inf:
        ratio = above / below
        x = below * math.sqrt(ratio) if ratio < math.inf else math.sqrt(below) * math.sqrt(above)
        return x if below < x < above else 0.5 * (below + above)
    leap = 2.0 ** min(step * step, 1000)
    return min(max(below, start) * leap, _LARGEST) if above == math.inf else min(above, start) / leap
