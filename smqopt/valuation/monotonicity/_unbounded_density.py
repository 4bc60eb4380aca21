"""The witness that J falls to high where the density is unbounded there.

If f(θ) → ∞ as θ → high then F/f → 0, so J(high) = high, while J(θ) > θ inside: close enough to
high, J falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, ctx

from smqopt.numeric import Floats
from smqopt.valuation.law._verdict import Irregular, Undecided, Verdict

BITS = 256
"""Precision of the balls that prove a witness."""
HALVINGS = 60
"""Points are tried at high − width/2^k for so many k."""


def falling_top(
    low: float | Floats,
    high: float | Floats,
    owner: int | None,
    virtual_cost: Callable[[Any, Any], Any],
    reason: str,
) -> Verdict:
    """Find doubles θ₁ < θ₂ near high with J(θ₁) > J(θ₂), proved in balls.

    Parameters
    ----------
    low, high
        Ends of the support, in currency; scalars or shape (n,).
    owner
        Whose law it is, from 0; None for a common law.
    virtual_cost
        Gives J as a ball from θ and the ends, all balls: `virtual_cost(theta, (low, high))`.
    reason
        Why the density rises without bound.

    Returns
    -------
    Irregular or Undecided
        Irregular with the deepest fall among the points tried; high itself, where J(high) = high,
        is one of them. Undecided if no two of them show a fall.
    """
    a, b = (float(end[owner or 0]) if isinstance(end, np.ndarray) else float(end) for end in (low, high))
    near = b - (b - a) * 2.0 ** -np.arange(1.0, HALVINGS + 1)
    near = np.unique(np.append(near, np.nextafter(b, a)))
    before = ctx.prec
    ctx.prec = BITS
    try:
        ends = arb(a), arb(b)
        tried = [(theta, virtual_cost(arb(theta), ends)) for theta in near[(near > a) & (near < b)].tolist()]
        tried = [each for each in tried if each[1].is_finite()] + [(b, ends[1])]
        points, costs = [theta for theta, _ in tried], [cost for _, cost in tried]
        top, deepest, pair = 0, arb(0), None
        for k in range(1, len(points)):
            fall = costs[top] - costs[k]
            # high itself is named only where no point inside shows a fall
            if fall > deepest and (k < len(points) - 1 or pair is None):
                deepest, pair = fall, (top, k)
            if costs[k].lower() > costs[top].lower():  # one far from high may be wide
                top = k
        if pair is None:
            return Undecided(f"{reason}, but no two doubles near high show it", owner)
        witness = points[pair[0]], points[pair[1]]
        shown = float(costs[pair[0]].mid()), float(costs[pair[1]].mid())
    finally:
        ctx.prec = before
    return Irregular(f"{reason}; J falls near high, checked in ball arithmetic", witness, shown, owner)
