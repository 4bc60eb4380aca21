"""The triangular law: a power up to its mode, and high q minus a root beyond.

C(q) = low q + √(width · left) q^(3/2), and high q − q √(width · right (1 − q)).
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.program.cones._form import ConeForm, for_owners, in_units, pick, spread
from smqopt.program.cones._kumaraswamy import kumaraswamy_cost
from smqopt.program.cones._power import power_cost
from smqopt.valuation import Kumaraswamy, Power, Triangular

LEAST_SIDE = 2.0**-10
"""The cones are used where either side of the mode has this share of the width, or none: a smaller
one hardly counts, and solvers stall on it."""


def triangular_cost(law: Triangular, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) with second-order cones.

    For a mode at an end of the support, or not next to one (Appendix D).

    With left = mode − low, right = high − mode, Q = F(mode) = left/width and S = 1 − Q, let a share
    x of Q and a share 1 − y of S be filled: q = Qx + S(1 − y), 0 ≤ x, y ≤ 1. Up to the mode θ = low
    + left √x, beyond it θ = high − right √y, so that

        C = min  low Qx + left Q x^(3/2) + high S(1 − y) + right (1 − √y) − right S (1 − y^(3/2)),

    a sum of convex functions of x and y. Below the mode J is at most J(mode), beyond it at least
    that, so the cheapest way to a given q fills x first: then y = 1 and C(q) = q(low + left √x), or
    x = 1 and C(q) = q(high − right √y).

    With the mode at high the law is a power law; with the mode at low it is Kumaraswamy's with a =
    1 and b = 2.
    """
    low, mode, high = (spread(law, name, q.size) for name in ("low", "mode", "high"))
    rises, falls = np.flatnonzero(mode == high), np.flatnonzero(mode == low)
    yield from for_owners(power_cost, lambda: Power(2.0, low[rises], high[rises]), q, unit, rises)
    yield from for_owners(kumaraswamy_cost, lambda: Kumaraswamy(1.0, 2.0, low[falls], high[falls]), q, unit, falls)
    share = (mode - low) / (high - low)
    both = np.flatnonzero((share >= LEAST_SIDE) & (share <= 1.0 - LEAST_SIDE))
    if both.size:
        yield _with_both_sides(both, pick(q, both), *(in_units(end[both], unit[both]) for end in (low, mode, high)))


def _with_both_sides(owners: Indices, q: cp.Expression, low: Floats, mode: Floats, high: Floats) -> ConeForm:
    left, right = mode - low, high - mode
    Q, S = left / (high - low), right / (high - low)
    x, y = cp.Variable(owners.size, name="filled_below_mode"), cp.Variable(owners.size, name="unfilled_above_mode")
    below = cp.multiply(low * Q, x) + cp.multiply(left * Q, _cubed_root(x))
    above = cp.multiply(high * S, 1.0 - y) + cp.multiply(right, 1.0 - cp.sqrt(y)) - right * S
    above = above + cp.multiply(right * S, _cubed_root(y))
    side = (x >= 0, x <= 1, y >= 0, y <= 1, q == cp.multiply(Q, x) + cp.multiply(S, 1.0 - y))
    return ConeForm(owners, below + above, side)


def _cubed_root(x: cp.Expression) -> cp.Expression:
    return cp.power(x, 1.5, approx=True)  # the approximation by a fraction is 3/2 itself
