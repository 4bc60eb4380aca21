"""Roots of increasing functions, many at once, or one on a log scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric._arrays import Floats, Indices

_MAX_STEPS = 1_100
"""Bisection alone reaches the last bit of any double within these."""
_PATIENCE = 40
"""Steps after which brackets that span many powers of two are cut at their geometric mean."""
_WIDE = 4.0
"""Ratio of the ends of such a bracket."""
_TINY = float(np.finfo(np.float64).tiny)
_ULP = 2.0**-53
SEARCH_CLOSE = 4 * _ULP
"""A search ends when log x is known this well: a few units in its last place."""
_RESOLVED = 2.0**-26
"""Points closer than this in log x say nothing of the slope: their difference in value is mostly
rounding."""
_LONGEST_STEP = 40.0
"""In log x."""
_LARGEST = 2.0**1000
_MOST_STEPS = 400
"""Bisection alone needs fewer: 2,098 powers of two, halved eleven times, then 53 bits."""


def increasing_root(function: Callable[[Floats, Indices], Floats], low: Floats, high: Floats) -> Floats:
    """Find the roots of increasing functions, one for each bracket.

    Inverse quadratic interpolation where that is safe, else bisection. The root stays between the
    last point seen with g < 0 and the last one seen with g ≥ 0, whatever the function does.

    Parameters
    ----------
    function
        Gives g at points x for the indices k of those points. It is taken to be increasing, with
        g(low) ≤ 0 ≤ g(high); the value may be infinite. It is not evaluated at the ends.
    low, high
        Shape (m,): the brackets.

    Returns
    -------
    array
        Shape (m,): the root, to two units in the last place, or the end of the bracket nearest to
        it.
    """
    root = 0.5 * (low + high)
    active = np.flatnonzero(high > low)
    root[high <= low] = low[high <= low]
    # a: the newest point, b: the point across the root, c: the one before
    below, above = low[active], high[active]
    g_below, g_above = np.full(active.size, -np.inf), np.full(active.size, np.inf)
    c, g_c = np.full(active.size, np.nan), np.full(active.size, np.nan)
    share = np.full(active.size, 0.5)
    newest_is_below = np.zeros(active.size, dtype=bool)
    for step in range(_MAX_STEPS):
        if active.size == 0:
            break
        width = above - below
        a = np.where(newest_is_below, below, above)
        across = np.where(newest_is_below, width, -width)
        x = np.clip(a + share * across, below, above)
        if step >= _PATIENCE:  # the root may be tiny: halve the range of exponents
            wide = (below >= 0) & (above > _WIDE * np.maximum(below, _TINY))
            x = np.where(wide, np.sqrt(np.maximum(below, _TINY)) * np.sqrt(np.maximum(above, 0.0)), x)
        g = function(x, active)
        negative = g < 0
        old_a = a
        old_g = np.where(newest_is_below, g_below, g_above)
        same = negative == newest_is_below  # the new point replaces a; b stays
        c = np.where(same, old_a, np.where(negative, below, above))
        g_c = np.where(same, old_g, np.where(negative, g_below, g_above))
        below, g_below = np.where(negative, x, below), np.where(negative, g, g_below)
        above, g_above = np.where(negative, above, x), np.where(negative, g_above, g)
        newest_is_below = negative
        width = above - below
        fine = 2 * np.spacing(np.maximum(np.abs(below), np.abs(above)))
        best = np.where(np.abs(g_below) < np.abs(g_above), below, above)
        done = (width <= fine) | (g == 0) | np.isnan(g)
        root[active] = np.where(g == 0, x, np.where(np.isnan(g), np.nan, best))
        share = _next_share(newest_is_below, below, above, g_below, g_above, c, g_c, fine)
        keep = ~done
        active, below, above, g_below, g_above = (v[keep] for v in (active, below, above, g_below, g_above))
        c, g_c, share, newest_is_below = c[keep], g_c[keep], share[keep], newest_is_below[keep]
    return root


def _next_share(
    newest_is_below: NDArray[np.bool_],
    below: Floats,
    above: Floats,
    g_below: Floats,
    g_above: Floats,
    c: Floats,
    g_c: Floats,
    fine: Floats,
) -> Floats:
    """Choose where in each bracket to evaluate next."""
    a, b = np.where(newest_is_below, below, above), np.where(newest_is_below, above, below)
    g_a, g_b = np.where(newest_is_below, g_below, g_above), np.where(newest_is_below, g_above, g_below)
    with np.errstate(all="ignore"):
        xi = (a - b) / (c - b)
        phi = (g_a - g_b) / (g_c - g_b)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        step = g_a / (g_b - g_a) * g_c / (g_b - g_c) + (c - a) / (b - a) * g_a / (g_c - g_a) * g_b / (g_c - g_b)
        least = 0.5 * fine / (above - below)
    step = np.where(safe & np.isfinite(step), step, 0.5)
    return np.clip(step, np.minimum(least, 0.5), np.maximum(1 - least, 0.5))


@dataclass(frozen=True)
class Bracket:
    """Two neighbouring values of x with values at most, and above, the target."""

    below: float
    value_below: float
    above: float
    slope: float
    """d log value / d log x near the answer."""
    steps: int


def largest_within(
    rising: Callable[[float], float], target: float, start: float, slope: float, close: float
) -> Bracket:
    """Find the largest x with rising(x) ≤ target, x > 0, to a relative `close`.

    It works on log value against log x, which is a straight line for powers, as for the spend of
    power laws without caps at prices 1/x. Each step evaluates the function once, at the root of the
    inverse interpolation through the last three points, less half of `close` so that it falls on
    the side that keeps the target. Where that root leaves the bracket, or the bracket has not
    halved for three steps, the middle of the bracket (in log x) is taken.
    """
    below, value_below, above = 0.0, 0.0, math.inf
    points: list[tuple[float, float]] = []
    x, width, stalled = start, math.inf, 0
    for step in range(1, _MOST_STEPS):
        total = rising(x)
        if total <= target:
            below, value_below = x, total
        else:
            above = x
        if total > 0:
            points = [*points, (x, log_ratio(total, target))][-3:]
            slope = _secant_slope(points, slope)
            if total <= target and -points[-1][1] <= close * slope:
                return Bracket(below, value_below, above, slope, step)
        if above <= below * (1.0 + 2.0 * close):
            return Bracket(below, value_below, above, slope, step)
        bracket = log_ratio(above, below) if below > 0 and above < math.inf else math.inf
        stalled = 0 if bracket < 0.5 * width else stalled + 1
        width = min(width, bracket)
        x = _next(points, slope, close) if points and stalled < 3 else math.nan
        if not below < x < above:
            stalled = 0
            x = _middle(below, above, start, step)
            if not below < x < above:
                return Bracket(below, value_below, above, slope, step)
    raise AssertionError("the search did not end")


def log_ratio(a: float, b: float) -> float:
    """Return log(a/b) for a, b > 0, to full relative accuracy also for a near b.

    The same in every unit of a and b.
    """
    if abs(a - b) < 0.5 * b:
        return math.log1p((a - b) / b)
    ratio = a / b
    return math.log(ratio) if 0 < ratio < math.inf else math.log(a) - math.log(b)


def _secant_slope(points: list[tuple[float, float]], slope: float) -> float:
    """Return d log value / d log x from two points that are not too close."""
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
