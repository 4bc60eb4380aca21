"""q times the logarithm of an affine function of q, up or down.

What the cost curves of truncated exponential and logistic laws are made of.

    −q log(1 − Zq)  for 0 < Z < 1,      q log(1 + Yq)  for Y > 0.

Both are convex. As entropy and logarithm they are sums of terms that nearly cancel where Z or Y is
small. There the logarithm's integral is used instead, by Gauss and Legendre's rule with nodes s_j
and weights w_j > 0, which is exact to beyond a double's last bit (`quadrature`):

    log(1 + x) = ∫₀¹ x/(1 + sx) ds,   so   q log(1 + Yq) = Y Σ_j w_j q²/(1 + s_j Y q),   and the
    same with Y = −Z,

where each term is a second-order cone: t (1 + s Y q) ≥ q². Each takes acceptances, an affine
expression of shape (m,), a factor, and Z or log(1/Y), which keeps its digits where Y overflows.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import Term
from smqopt.program.cones._quadrature import count_nodes, logarithm_quadrature, second_order_terms

LARGEST_FALLING = 0.2
"""Up to this Z the quadrature is used, above it entropy and logarithm."""
LARGEST_RISING = 1.0
"""The same for Y."""
NEGLIGIBLE = 2.0**-64
"""A constant that is less than this share of acceptance 1 is not told from 0 beside it."""


def falling(q: cp.Expression, factor: Floats, mass: Floats) -> Term:
    """State −factor q log(1 − Zq), Z of order 1.

    With y = 1 − Zq:  −Zq log y = (y − 1) log y = −entr(y) − log y.
    """
    y = 1.0 - cp.multiply(mass, q)
    return cp.multiply(factor / mass, -cp.entr(y) - cp.log(y)), ()


def falling_little(q: cp.Expression, factor: Floats, mass: Floats) -> Term:
    """State −factor q log(1 − Zq), Z ≤ `LARGEST_FALLING`; the factor may be large."""
    return _by_quadrature(q, factor, -mass)


def rising(q: cp.Expression, factor: Floats, log_inverse: Floats) -> Term:
    """State factor q log(1 + Yq), Y of order 1 or large.

    With c = 1/Y and x = q + c:  q log(x/c) = (x − c) log(x/c) = c log(c/x) − entr(x) − x log c.
    """
    c = np.exp(log_inverse)
    x = q + c
    return cp.multiply(factor, cp.rel_entr(c, x) - cp.entr(x) - cp.multiply(log_inverse, x)), ()


def rising_steeply(q: cp.Expression, factor: Floats, log_inverse: Floats) -> Term:
    """State factor q log(1 + Yq), c = 1/Y ≤ `NEGLIGIBLE`.

    q log q − q log c, which is less by q log(1 + c/q) ≤ c.
    """
    return cp.multiply(factor, -cp.entr(q) - cp.multiply(log_inverse, q)), ()


def rising_little(q: cp.Expression, factor: Floats, log_inverse: Floats) -> Term:
    """State factor q log(1 + Yq), Y ≤ `LARGEST_RISING`; the factor may be large."""
    return _by_quadrature(q, factor, np.exp(-log_inverse))


def _by_quadrature(q: cp.Expression, factor: Floats, slope: Floats) -> Term:
    nodes, weights = logarithm_quadrature(count_nodes(float(np.min(slope)), float(np.max(slope))))
    return second_order_terms(q, weights[:, None] * (factor * np.abs(slope)), nodes[:, None] * slope)
