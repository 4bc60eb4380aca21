"""Where the utility of more acceptance meets its price, for many owners at once.

V = φ′(q(v))/p, with q(v) what is offered at C̄′ = v.

T(v) = φ′(q(v))/p does not rise, so the root lies between any v and T(v); log T(v) − log v falls at
least as fast as log v rises. Secants with slopes of at most −1 therefore never leave that bracket.
Who has not arrived after a few of them is left to a search that cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from smqopt.market.objectives._utility import Utility
from smqopt.numeric import Floats

_STEPS = 14
_CLOSE = 2.0**-49
"""|log T(v) − log v| below this is rounding."""
_FIRST = -2.0
"""The slope of the first secant: that of a straight C′ and a logarithm."""


def match_price(
    offer: Callable[[Floats], tuple[Floats, Floats]], utility: Utility, price: Floats, start: Floats
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Return v, threshold, acceptance, and who has arrived; shape (n,) each.

    Parameters
    ----------
    offer
        Gives threshold and acceptance at v; it may use the memory of v.
    utility
        φ of the n owners.
    price
        p > 0, shape (n,).
    start
        v > 0 to start from, shape (n,).
    """
    v, step = start.copy(), np.zeros(0)
    slope = np.full(v.size, _FIRST)
    before = np.empty(0)
    with np.errstate(all="ignore"):
        for number in range(_STEPS):
            theta, q = offer(v.copy())
            miss = np.log(utility.slope(q) / (price * v))
            arrived = np.abs(miss) <= _CLOSE
            if arrived.all() or number == _STEPS - 1:
                break
            if number:
                secant = (miss - before) / step
                slope = np.where(np.isfinite(secant), np.minimum(secant, -1.0), slope)
            step, before = np.where(arrived, 0.0, -miss / slope), miss
            v *= np.exp(step)
    return v, theta, q, arrived & (v > 0) & np.isfinite(v)
