"""The sums over owners of a regular law, from F and f at one threshold an owner.

For a regular law h(q) = ε q − λ C(q) is concave with slope ε − λJ(θ), so the line that touches it at any threshold lies above it:
h(q') ≤ h(q) + (ε − λJ)(q' − q) (Appendix D; errata E1). Where that line is too steep, a second one with a slope of the other sign cuts it off: h
then ends between the two. Below, C(q) ≥ q θ̲ gives h(q) ≤ (ε − λθ̲)₊ for every law.
"""

from __future__ import annotations

import math

from flint import arb

from smqopt.numeric.balls import Ball
from smqopt.verification.proof.ball_laws import BallLaw, OwnerBalls
from smqopt.verification.proof.totals import Rows, Totals

__all__ = ["smooth_totals"]

TIGHT = 2.0**-50
"""A bound that exceeds the value at its threshold by less than this share of ε needs no second line."""
STEPS = 40
"""The second line touches at most so many doublings of a spacing away."""


def smooth_totals(law: BallLaw, rows: Rows, price: Ball, *, common: bool) -> Totals:
    """Enclose the sums over owners of a regular law.

    Parameters
    ----------
    law
        F and f of its owners.
    rows
        The owners, k rows.
    price
        λ > 0, exact.
    common
        Whether all owners have one law.
    """
    privacy, spend, top = arb(0), arb(0), arb(0)
    balls = law(0) if common else None
    columns = (getattr(rows, name).tolist() for name in Rows.__dataclass_fields__)
    for place, epsilon, count, theta, offered, touch, low, high in zip(*columns, strict=True):
        own = law(place) if balls is None else balls
        e, m = arb(epsilon), arb(count)
        F = _acceptance(own, theta, low, high)
        if offered:
            bought = m * F
            privacy += e * bought
            spend += arb(theta) * bought
        if epsilon > 0:
            top += m * _top(own, e, price, touch, F if touch == theta else None, low, high)
    return Totals(privacy, spend, top)


def _acceptance(own: OwnerBalls, theta: float, low: float, high: float) -> Ball:
    """Give F(θ); at an end that rounding has moved, a ball that holds it either way."""
    if theta == low:
        return own.at_low if own.at_low == 0 else own.at_low.union(arb(0)).nonnegative_part()
    if theta == high:
        return own.at_high if own.at_high == 1 else own.at_high.union(arb(1))
    return own.cdf(arb(theta)) if low < theta < high else arb("nan")


def _top(own: OwnerBalls, e: Ball, price: Ball, touch: float, F: Ball | None, low: float, high: float) -> Ball:
    """Bound max_q {ε q − λ C(q)} from above."""
    from_low = e - price * low
    if from_low <= 0:
        return arb(0)
    found = _touched(own, e, price, touch, F, low, high) + own.jumps * e
    return found.min(from_low) if found.is_finite() else from_low


def _touched(own: OwnerBalls, e: Ball, price: Ball, touch: float, F: Ball | None, low: float, high: float) -> Ball:
    """Bound the top by the line at a threshold, or by two."""
    if touch <= low:
        return e - price * low
    if touch >= high:
        value, slope, q = e - price * high, e - price * (high + 1 / own.pdf(arb(high))), arb(1)
        if not slope.is_finite():  # f vanishes there
            return _touched(own, e, price, math.nextafter(high, low), None, low, high)
    else:
        q = own.cdf(arb(touch)) if F is None else F
        value, slope = q * (e - price * touch), e - price * (touch + q / own.pdf(arb(touch)))
    line = value + (slope * (1 - q)).max(-slope * q)
    if line - value <= e * TIGHT:
        return line
    return _cut_off(own, e, price, touch, line, value, slope, q, low, high)


def _cut_off(
    own: OwnerBalls,
    e: Ball,
    price: Ball,
    touch: float,
    line: Ball,
    value: Ball,
    slope: Ball,
    q: Ball,
    low: float,
    high: float,
) -> Ball:
    """Bound the top by the line at a threshold up to where a second line, of slope of the other sign, touches."""
    rising = bool(slope > 0)
    if not rising and not slope <= 0:
        return line
    step = math.ulp(touch)
    for _ in range(STEPS):
        other = touch + step if rising else touch - step
        step *= 2
        if not low < other < high:
            break
        p = own.cdf(arb(other))
        second = e - price * (other + p / own.pdf(arb(other)))
        if second <= 0 if rising else second >= 0:
            return line.min(value + slope * (p - q))
    return line
