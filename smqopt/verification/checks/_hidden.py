"""Bounds from values of F alone, for laws that may hide something.

It may be hidden between the prices looked at.

Where J is proved to rise, or to rise outside flat pieces in closed form, the hull closes the bound
at once, and a table is known at all prices. Of any other law J on a grid proves nothing: what the
grid misses may sell. There a monotone F bounds each cell of prices, (v − p)F(p) ≤ (v − a)F(b) on
[a, b], and cells are halved until that closes.
"""

from __future__ import annotations

import numpy as np

from smqopt.market import Market
from smqopt.numeric import HIDDEN_GAP, Floats
from smqopt.valuation import PriceFloored, Regular, Valuation, bound_by_cells, bound_together, has_proved_hull, step_law
from smqopt.verification.checks._weak_duality import tangent_slopes, tops

_SHARE = HIDDEN_GAP.value / 4
"""By how much the bound of an owner may exceed the best price seen, relative to it;"""
_SHARE_TOGETHER = 0.75 * HIDDEN_GAP.value
"""and those of many owners of one law together."""
MANY = 1 << 12
"""From so many owners of a law on, they are bounded together."""


def may_hide(law: Valuation) -> bool:
    """Return whether a law may sell more than its hull says.

    It may do so between the prices looked at.
    """
    known = isinstance(law.regularity(), Regular) or has_proved_hull(law)
    return not known and step_law(law) is None


def hides(market: Market) -> bool:
    """Return whether some law of a market may hide something."""
    return any(may_hide(law) for law, _ in market.valuation.parts())


def tops_from_cdf(
    law: Valuation, epsilon: Floats, price: Floats, lowest: Floats, highest: Floats
) -> tuple[Floats, Floats]:
    """Bound max {ε q − λ C̄(q): lowest ≤ q ≤ highest} as `tops` does.

    Where need be, from F alone.

    With v the slope of C̄ at the top, ε q − λC̄(q) = (ε − λv) q + λ(v q − C̄(q)), and the last
    bracket is at most max_p (v − p)F(p), whatever C̄ is.
    """
    if not may_hide(law):
        return tops(law, epsilon, price, lowest, highest)
    v, _ = tangent_slopes(law, epsilon, price, lowest, highest)
    v = np.where(np.isfinite(v), v, np.maximum(epsilon, 0.0) / price)
    rest = epsilon - price * v
    floor = np.full(v.size, law.floor) if isinstance(law, PriceFloored) else None
    if law.size is None and floor is None and v.size >= MANY:
        best = price * bound_together(law, v, _SHARE_TOGETHER)
    else:
        best = price * bound_by_cells(law, v, _SHARE, floor).upper
    return best + np.maximum(rest * lowest, rest * highest), best + np.abs(epsilon) + price * v
