"""The truncated exponential law: C(q) = low q − q log(1 − Zq)/r, with Z = 1 − e^(−r width)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.program.cones.form import ConeForm, Floats, Indices, in_units, pick, spread
from smqopt.valuation.truncated_exponential import TruncatedExponential

__all__ = ["LARGEST_MASS_OF_QUADRATURE", "quadrature", "truncated_exponential_cost"]

LARGEST_MASS_OF_QUADRATURE = 0.2
"""Up to this Z the quadrature is used, above it entropy and logarithm."""
_BITS = 56
"""Relative accuracy asked of the quadrature, in bits: beyond that of a double."""


def truncated_exponential_cost(law: TruncatedExponential, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) = low q − q log(1 − Zq)/r with exponential or second-order cones (Appendix D).

    With y = 1 − Zq:  −Zq log y = (y − 1) log y = −log y − entr(y),  so  C(q) = low q + (−log y − entr(y))/(r Z).

    Both terms are of order Zq and their sum is of order (Zq)², so where Z is small nearly all digits would cancel in the solver.
    There the logarithm's integral is used instead, by Gauss and Legendre's rule with nodes s_j and weights w_j:

        −log(1 − x) = ∫₀¹ x/(1 − s x) ds,   so   C(q) = low q + (Z/r) Σ_j w_j q²/(1 − s_j Z q),

    where each term is a second-order cone: t (1 − s Z q) ≥ q². The rule is exact to beyond a double's last bit (`quadrature`).

    Parameters
    ----------
    law
        Truncated exponential laws of m owners, or one law common to them.
    q
        Acceptances, an affine expression of shape (m,).
    unit
        Units of currency, shape (m,).
    """
    low = in_units(law.low, unit)
    rate = spread(law, "rate", q.size) * unit
    mass = spread(law, "mass", q.size)
    curved = mass > LARGEST_MASS_OF_QUADRATURE
    if np.any(curved):
        yield _by_entropy(np.flatnonzero(curved), q, low, rate, mass)
    if not np.all(curved):
        yield _by_quadrature(np.flatnonzero(~curved), q, low, rate, mass)


def _by_entropy(owners: Indices, q: cp.Expression, low: Floats, rate: Floats, mass: Floats) -> ConeForm:
    share = pick(q, owners)
    y = 1.0 - cp.multiply(mass[owners], share)
    weight = 1.0 / (rate[owners] * mass[owners])
    return ConeForm(owners, cp.multiply(low[owners], share) + cp.multiply(weight, -cp.log(y) - cp.entr(y)))


def _by_quadrature(owners: Indices, q: cp.Expression, low: Floats, rate: Floats, mass: Floats) -> ConeForm:
    share = pick(q, owners)
    slope = mass[owners] / rate[owners]
    cost = cp.multiply(low[owners], share)
    side: list[cp.Constraint] = []
    for node, weight in zip(*quadrature(float(np.max(mass[owners]))), strict=True):
        t = cp.Variable(owners.size, name="quadrature_term")
        d = 1.0 - cp.multiply(node * mass[owners], share)
        side.append(cp.SOC(t + d, cp.vstack([2.0 * share, t - d]), axis=0))  # t d ≥ q²
        cost = cost + cp.multiply(weight * slope, t)
    return ConeForm(owners, cost, side)


def quadrature(largest: float) -> tuple[Floats, Floats]:
    """Give nodes s and weights w > 0 on [0, 1] with −log(1 − x)/x = Σ w/(1 − s x), to 2^−56 relative, for 0 < x ≤ `largest` < 1.

    The integrand 1/(1 − s x) has its pole at s = 1/x, so that Gauss and Legendre's rule with N nodes errs by about ρ^(−2N) with
    ρ = z + √(z² − 1), z = 2/x − 1 (Trefethen 2019, *Approximation Theory and Approximation Practice*, SIAM, Theorem 19.3).

    Examples
    --------
    >>> nodes, weights = quadrature(0.1)
    >>> bool(abs(sum(weights / (1 - 0.1 * nodes)) + math.log(0.9) / 0.1) < 1e-15)
    True
    """
    z = 2.0 / largest - 1.0
    rho = z + math.sqrt(z * z - 1.0)
    count = math.ceil(0.5 * (_BITS + 3) / math.log2(rho))
    nodes, weights = np.polynomial.legendre.leggauss(max(count, 1))
    return 0.5 * (nodes + 1.0), 0.5 * weights
