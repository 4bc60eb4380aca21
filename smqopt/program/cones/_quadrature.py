"""Gauss's rules for ∫₀¹ ω(s)/(1 + sx) ds.

What sums of second-order cones t (1 + sxq) ≥ q² state exactly, for logarithms and for powers.

All nodes lie in (0, 1) and all weights are positive. The integrand has its pole at s = −1/x, so
that a rule with N nodes errs by about ρ^(−2N) with ρ = z + √(z² − 1), z = |2/x + 1| (Trefethen
2019, *Approximation Theory and Approximation Practice*, SIAM, Theorem 19.3), whatever the weight ω.
"""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import Term

_BITS = 56
"""Relative accuracy asked of a rule, in bits: beyond that of a double."""
_FLAT = 2.0**-60
"""Up to this |x| one node is enough."""


def count_nodes(*ends: float) -> int:
    """Return the number of nodes for which a rule is right to 2^−56.

    For all x between 0 and any of the ends, each above −1.
    """
    rates = [math.acosh(abs(2.0 / x + 1.0)) for x in ends if abs(x) > _FLAT]  # log ρ
    return max(math.ceil(0.5 * (_BITS + 3) * math.log(2.0) / min(rates, default=math.inf)), 1)


def second_order_terms(q: cp.Expression, factors: Floats, slopes: Floats) -> Term:
    """State Σ_j f_j q²/(1 + y_j q) by second-order cones t_j (1 + y_j q) ≥ f_j q².

    The cones are of one size however small a factor is: f_j ≥ 0, y_j > −1, shape (count, m) each.
    """
    terms, side = [], []
    for f, y in zip(factors, slopes, strict=True):
        t, d = cp.Variable(int(q.size), name="quadrature_term"), 1.0 + cp.multiply(y, q)
        side.append(cp.SOC(t + d, cp.vstack([cp.multiply(2.0 * np.sqrt(f), q), t - d]), axis=0))
        terms.append(t)
    return sum(terms[1:], terms[0]), side


def logarithm_quadrature(count: int) -> tuple[Floats, Floats]:
    """Return nodes s and weights w with log(1 + x)/x = Σ w/(1 + sx).

    Gauss and Legendre's rule, ω = 1; shape (count,) each.
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def power_quadrature(p: Floats, count: int) -> tuple[Floats, Floats]:
    """Return nodes s and weights w with (1 + x)^(−p) = Σ w/(1 + sx), 0 < p < 1.

    Gauss and Jacobi's rule, ω = s^(p−1) (1 − s)^(−p) sin(πp)/π.

    Nodes are eigenvalues of the matrix of the three-term recurrence, weights the squares of their
    vectors' first entries (Golub and Welsch 1969, "Calculation of Gauss quadrature rules",
    Mathematics of Computation 23); shape (count, m) each. SciPy's `roots_jacobi` is less exact for
    p next to 0 or 1.
    """
    exponent, owner = np.unique(p, return_inverse=True)
    n, e = np.arange(1, count), exponent[:, None]
    matrix = np.zeros((exponent.size, count, count))
    places = np.arange(count)
    matrix[:, places, places] = np.hstack([2.0 * e - 1.0, -(2.0 * e - 1.0) / ((2.0 * n - 1.0) * (2.0 * n + 1.0))])
    square = (n - e) * (n + e - 1.0) / (2.0 * n - 1.0) ** 2
    square[:, :1] *= 2.0
    matrix[:, n, n - 1] = np.sqrt(square)
    values, vectors = np.linalg.eigh(matrix)
    return (0.5 * (values + 1.0))[owner].T, (vectors[:, 0, :] ** 2)[owner].T


def inverse_power(q: cp.Expression, low: Floats, mass: Floats, p: Floats) -> Term:
    """State low q (1 − Mq)^(−p), 0 < p ≤ 1, with second-order cones (Appendix D).

    For p < 1 the power is an integral, for x < 1 (Euler's, of the hypergeometric function; DLMF
    15.6.1),

        (1 − x)^(−p) = ∫₀¹ ω(s)/(1 − s x) ds,   ω(s) = s^(p−1) (1 − s)^(−p) sin(πp)/π,

    which `power_quadrature` gives to beyond a double's last bit. As 1/(1 − x) = 1 + x/(1 − x), it
    is

        low (q + M Σ_j w_j s_j q²/(1 − s_j M q)).

    For p = 1 there is one term, s = w = 1.
    """
    nodes, weights = (np.ones((1, p.size)),) * 2
    if np.all(p < 1.0):
        nodes, weights = power_quadrature(p, count_nodes(-float(np.max(mass))))
    terms, side = second_order_terms(q, low * mass * weights * nodes, -mass * nodes)
    return cp.multiply(low, q) + terms, side
