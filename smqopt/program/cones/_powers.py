"""Cost curves of powers and roots of acceptance (Appendix D), in owners' units.

Each takes acceptances, an affine expression of shape (m,), and parameters of shape (m,).
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import Term

SECOND_ORDER = (1.5, 2.0, 3.0, 4.0, 6.0)
"""Exponents that a few second-order cones state exactly, as t ≥ q³ by t q ≥ s², s ≥ q². Solvers get
further with these than with power cones."""


def linear(q: cp.Expression, slope: Floats) -> Term:
    """State slope q."""
    return cp.multiply(slope, q), ()


def second_order_power(q: cp.Expression, low: Floats, width: Floats, k: Floats) -> Term:
    """State low q + width q^(1 + 1/k) for one k, with 1 + 1/k in `SECOND_ORDER`."""
    power = _exact_power(q, 1.0 + 1.0 / float(k[0]))
    return cp.multiply(low, q) + cp.multiply(width, power), ()


def power(q: cp.Expression, low: Floats, width: Floats, k: Floats) -> Term:
    """State low q + width q^(1 + 1/k) with power cones.

    With α = k/(k + 1):  t ≥ q^(1 + 1/k)  ⟺  t^α 1^(1−α) ≥ q  ⟺  (t, 1, q) ∈ PowCone3D(α).
    """
    t = cp.Variable(k.size, name="power_of_acceptance")
    cost = cp.multiply(low, q) + cp.multiply(width, t)
    return cost, (cp.PowCone3D(t, np.ones(k.size), q, 1.0 / (1.0 + 1.0 / k)),)


def falling_power(q: cp.Expression, low: Floats, width: Floats, b: Floats) -> Term:
    """State q (low + width (1 − y^(1/b))), y = 1 − q, b > 1, with power cones.

    As q y^(1/b) = y^(1/b) − y^(1 + 1/b) it is a sum of an affine function and two convex ones,

        low q + width (q + y^(1 + 1/b) − y^(1/b)).
    """
    one, high, root = np.ones(b.size), cp.Variable(b.size, name="high_power"), cp.Variable(b.size, name="root")
    side = cp.PowCone3D(high, one, 1.0 - q, 1.0 / (1.0 + 1.0 / b)), cp.PowCone3D(1.0 - q, one, root, 1.0 / b)
    return cp.multiply(low + width, q) + cp.multiply(width, high - root), side


def rise_and_fall(q: cp.Expression, low: Floats, mode: Floats, high: Floats) -> Term:
    """State the triangular law's curve with second-order cones, its mode inside.

    With left = mode − low, right = high − mode, Q = F(mode) = left/width and S = 1 − Q, let a share
    x of Q and a share 1 − y of S be filled: q = Qx + S(1 − y), 0 ≤ x, y ≤ 1. Up to the mode θ = low
    + left √x, beyond it θ = high − right √y, so that

        C = min  low Qx + left Q x^(3/2) + high S(1 − y) + right (1 − √y) − right S (1 − y^(3/2)),

    a sum of convex functions of x and y. Below the mode J is at most J(mode), beyond it at least
    that, so the cheapest way to a given q fills x first: then y = 1 and C(q) = q(low + left √x), or
    x = 1 and C(q) = q(high − right √y).
    """
    left, right = mode - low, high - mode
    Q, S = left / (high - low), right / (high - low)
    x, y = cp.Variable(low.size, name="filled_below_mode"), cp.Variable(low.size, name="unfilled_above_mode")
    below = cp.multiply(low * Q, x) + cp.multiply(left * Q, _exact_power(x, 1.5))
    above = cp.multiply(high * S, 1.0 - y) + cp.multiply(right, 1.0 - cp.sqrt(y)) - right * S
    above = above + cp.multiply(right * S, _exact_power(y, 1.5))
    return below + above, (x >= 0, x <= 1, y >= 0, y <= 1, q == cp.multiply(Q, x) + cp.multiply(S, 1.0 - y))


def _exact_power(x: cp.Expression, p: float) -> cp.Expression:
    return cp.power(x, p, approx=True)  # the approximation by a fraction is p itself
