"""Cost curves of powers and logarithms (Appendix D), in owners' units.

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
INVERSE = (1.0, 1.5, 2.0, 3.0, 4.0)
"""The same of roots, a: on power cones beside those of inverse powers solvers stall."""


def linear(q: cp.Expression, slope: Floats) -> Term:
    """State slope q."""
    return cp.multiply(slope, q), ()


def second_order_power(q: cp.Expression, low: Floats, width: Floats, k: Floats) -> Term:
    """State low q + width q^(1 + 1/k) for one k, with 1 + 1/k in `SECOND_ORDER`."""
    power = cp.power(q, 1.0 + 1.0 / float(k[0]), approx=True)  # the approximation by a fraction is it
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


def inverse_power(q: cp.Expression, low: Floats, mass: Floats, a: Floats) -> Term:
    """State low q y^(−1/a), y = 1 − Mq, with second-order cones, a in `INVERSE`.

    It is low (y^(−1/a) − y^(1 − 1/a))/M, a sum of two convex functions.
    """
    y, p = 1.0 - cp.multiply(mass, q), 1.0 / float(a[0])
    return cp.multiply(low / mass, cp.power(y, -p, approx=True) - cp.power(y, 1.0 - p, approx=True)), ()


def logarithm(q: cp.Expression, low: Floats, scale: Floats, mass: Floats) -> Term:
    """State low q − scale q log y, y = 1 − Zq, with exponential cones.

    −Zq log y = (y − 1) log y = −entr(y) − log y.
    """
    y = 1.0 - cp.multiply(mass, q)
    return cp.multiply(low, q) + cp.multiply(scale / mass, -cp.entr(y) - cp.log(y)), ()
