"""q times the logarithm of an affine function of q, up or down.

What the cost curves of truncated exponential and logistic laws are made of.

    −q log(1 − Zq)  for 0 < Z < 1,      q log(1 + Yq)  for Y > 0.

Both are convex. As entropy and logarithm they are sums of terms that nearly cancel where Z or Y is
small. There the logarithm's integral is used instead, by Gauss and Legendre's rule with nodes s_j
and weights w_j > 0, which is exact to beyond a double's last bit (`quadrature`):

    log(1 + x) = ∫₀¹ x/(1 + sx) ds,   so   q log(1 + Yq) = Y Σ_j w_j q²/(1 + s_j Y q),   and the
    same with Y = −Z,

where each term is a second-order cone: t (1 + s Y q) ≥ q².
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._quadrature import (
    Term,
    count_nodes,
    logarithm_quadrature,
    second_order_terms,
)

LARGEST_FALLING = 0.2
"""Up to this Z the quadrature is used, above it entropy and logarithm."""
LARGEST_RISING = 1.0
"""The same for Y."""
NEGLIGIBLE = 2.0**-64
"""A constant that is less than this share of acceptance 1 is not told from 0 beside it."""


def falling_logarithm(q: cp.Expression, mass: Floats, factor: Floats) -> Term:
    """State factor · −q log(1 − Zq) by entropy and logarithm, for Z of order 1.

    With y = 1 − Zq:  −Zq log y = (y − 1) log y = −entr(y) − log y.

    Parameters
    ----------
    q
        Acceptances, an affine expression of shape (m,).
    mass
        Z, shape (m,).
    factor
        Shape (m,).
    """
    y = 1.0 - cp.multiply(mass, q)
    return cp.multiply(factor / mass, -cp.entr(y) - cp.log(y)), []


def rising_logarithm(q: cp.Expression, log_inverse: Floats, factor: Floats) -> Term:
    """State factor · q log(1 + Yq) by entropy and logarithm; Y of order 1 or large.

    With c = 1/Y and x = q + c:  q log(x/c) = (x − c) log(x/c) = c log(c/x) − entr(x) − x log c.

    Parameters
    ----------
    q
        Acceptances, an affine expression of shape (m,).
    log_inverse
        log c, shape (m,).
    factor
        Shape (m,).
    """
    c = np.exp(log_inverse)
    x = q + c
    return cp.multiply(factor, cp.rel_entr(c, x) - cp.entr(x) - cp.multiply(log_inverse, x)), []


def steep_logarithm(q: cp.Expression, log_inverse: Floats, factor: Floats) -> Term:
    """State factor · q log(1 + Yq) where c = 1/Y is at most `NEGLIGIBLE`.

    q log q − q log c, which is less by q log(1 + c/q) ≤ c.
    """
    return cp.multiply(factor, -cp.entr(q) - cp.multiply(log_inverse, q)), []


def by_quadrature(q: cp.Expression, slope: Floats, factor: Floats) -> Term:
    """State factor · |q log(1 + Yq)| by second-order cones.

    For −`LARGEST_FALLING` ≤ Y ≤ `LARGEST_RISING`.

    Parameters
    ----------
    q
        Acceptances, an affine expression of shape (m,).
    slope
        Y, or −Z, shape (m,).
    factor
        Shape (m,); it may be large where Y is small.
    """
    nodes, weights = logarithm_quadrature(count_nodes(float(np.min(slope)), float(np.max(slope))))
    return second_order_terms(q, weights[:, None] * (factor * np.abs(slope)), nodes[:, None] * slope)
