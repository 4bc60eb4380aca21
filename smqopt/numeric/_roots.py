"""Roots of increasing functions, many at once, never outside their brackets."""

from __future__ import annotations

from collections.abc import Callable

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
