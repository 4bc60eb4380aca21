"""The price λ at many budgets at once, where spend has a closed form."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats
from smqopt.questions.frontiers._price_blocks import PowerSums, PriceSums

_MOST_STEPS = 60
_CLOSE = 2.0**-48
"""A search ends when the spend is so near to the budget, relative to it;"""
_NARROW = 2.0**-51
"""or when the bracket is so narrow, relative to x."""
_LEAST_SHARE = 2.0**-20
"""Where nothing bounds x from below, no step goes further down than by this."""


def price_of_each(sums: PowerSums, budgets: Floats) -> tuple[Floats, PriceSums]:
    """Find x = 1/λ at which each budget is spent.

    Newton's method on log spend against log x, inside a bracket.

    Parameters
    ----------
    sums
        The market's sums.
    budgets
        Increasing, strictly between 0 and what the last corner spends, shape (p,).

    Returns
    -------
    x
        Non-decreasing, shape (p,).
    sums
        What is spent and bought at x; where the spend is not the budget, the difference shows.
    """
    corners = sums.corners
    spent = np.maximum.accumulate(sums.spend(corners)[0])
    k = np.searchsorted(spent, budgets, side="right")
    before, after = np.maximum(k - 1, 0), np.minimum(k, corners.size - 1)
    below, least = np.where(k > 0, corners[before], 0.0), np.where(k > 0, spent[before], 0.0)
    above = corners[after].copy()
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(spent[after] > least, (budgets - least) / (spent[after] - least), 0.5)
    x = np.clip(below + share * (above - below), below, above)
    x[x == 0] = 0.5 * above[x == 0]
    left = np.arange(x.size)
    for _ in range(_MOST_STEPS):
        spend, slope = _in_order(sums, x[left])
        B, short = budgets[left], spend <= budgets[left]
        below[left[short]] = np.maximum(below[left[short]], x[left[short]])
        above[left[~short]] = np.minimum(above[left[~short]], x[left[~short]])
        off = (np.abs(spend - B) > _CLOSE * B) & (above[left] > below[left] * (1.0 + _NARROW))
        left, spend, slope, B = left[off], spend[off], slope[off], B[off]
        if not left.size:
            break
        low, high = below[left], above[left]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = x[left] * np.exp(np.log(B / spend) * spend / slope)
        middle = np.where(low > 0.5 * high, 0.5 * (low + high), np.sqrt(np.maximum(low, _LEAST_SHARE * high) * high))
        x[left] = np.where((newton > low) & (newton < high), newton, middle)
    x = np.maximum.accumulate(x)
    return x, sums.at(x)


def _in_order(sums: PowerSums, x: Floats) -> tuple[Floats, Floats]:
    """Ask for the spend at prices that rounding may have put out of order."""
    if np.all(x[1:] >= x[:-1]):
        return sums.spend(x)
    order = np.argsort(x)
    spend, slope = sums.spend(x[order])
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    return spend[back], slope[back]
