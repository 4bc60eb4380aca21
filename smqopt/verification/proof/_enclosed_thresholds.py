"""Two thresholds around an owner's answer, proved for a regular law."""

from __future__ import annotations

import math

from flint import arb

from smqopt.numeric import Ball
from smqopt.valuation import OwnerBalls

SPACINGS = (2, 16, 256, 2**12, 2**20, 2**32)
"""Spacings of doubles by which an end is moved out, until it is proved to be one."""


def answer_bounds(own: OwnerBalls, e: float, price: Ball, near: float, low: float, high: float) -> tuple[float, float]:
    """Enclose θ(λ), where λJ(θ) = ε, clipped to the support.

    Parameters
    ----------
    own
        F and f of the owner.
    e
        ε ≥ 0.
    price
        λ > 0, exact.
    near
        A threshold near θ(λ).
    low, high
        The ends of the support.
    """
    if arb(e) <= price * low:
        return low, low

    def excess(t: float) -> Ball:
        theta = arb(t)
        return price * (theta + own.cdf(theta) / own.pdf(theta)) - e

    if arb(e) >= price * (high + 1 / own.pdf(arb(high))):
        return high, high
    steps = [count * math.ulp(near) for count in SPACINGS]
    below = next((t for t in (near - step for step in steps) if low < t < high and excess(t) <= 0), low)
    above = next((t for t in (near + step for step in steps) if low < t < high and excess(t) >= 0), high)
    return below, above


def near_top_bounds(
    own: OwnerBalls, e: float, price: Ball, top: float, ends: tuple[float, float], left: Ball, low: float, high: float
) -> tuple[float, float]:
    """Enclose all θ at which F(θ)(ε − λθ) is within `left` of its maximum.

    Parameters
    ----------
    own, e, price, low, high
        As above; λ ≥ 0.
    top
        A threshold near that of the maximum.
    ends
        Two thresholds on either side of it where the value is near what is asked for.
    left
        What may be left, in units of ε.
    """

    def value(t: float) -> Ball:
        F = arb(0) if t <= low else arb(1) if t >= high else own.cdf(arb(t))
        return F * (e - price * t)

    least = value(top) - left
    below, above = ends
    for _ in SPACINGS:
        if below <= low or value(below) < least:
            break
        below = max(low, below - max(top - below, math.ulp(below)))
    for _ in SPACINGS:
        if above >= high or value(above) < least:
            break
        above = min(high, above + max(above - top, math.ulp(above)))
    sure_below = below <= low or value(below) < least
    sure_above = above >= high or value(above) < least
    return (below if sure_below else low), (above if sure_above else high)
