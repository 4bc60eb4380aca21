"""The truncated Pareto law with a ≥ 1.

C(q) = low q (1 − Mq)^(−1/a) with M = 1 − (low/high)^a.
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm, alike, in_units, pick, spread
from smqopt.program.cones._quadrature import count_nodes, power_quadrature, second_order_terms
from smqopt.valuation import Pareto

LARGEST_MASS = 0.75
"""For a > 1, up to this M; beyond, the quadrature needs too many terms."""
LEAST_TAIL = 2.0**-12
"""For a = 1, where 1 − M is at least this: below, 1/(1 − Mq) has too large a range."""


def pareto_cost(law: Pareto, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) with second-order cones, for a ≥ 1 and M not next to 1.

    Appendix D.

    F⁻¹(q) = low (1 − Mq)^(−p) with p = 1/a. For p < 1 the power is an integral, for x < 1 (Euler's,
    of the hypergeometric function; DLMF 15.6.1),

        (1 − x)^(−p) = ∫₀¹ ω(s)/(1 − s x) ds,   ω(s) = s^(p−1) (1 − s)^(−p) sin(πp)/π,

    which Gauss and Jacobi's rule with nodes s_j and weights w_j > 0 gives to beyond a double's last
    bit. As 1/(1 − x) = 1 + x/(1 − x),

        C(q) = low (q + M Σ_j w_j s_j q²/(1 − s_j M q)),

    where each term is a second-order cone: t (1 − s M q) ≥ q². For a = 1 there is one term, s = w =
    1.
    """
    a = spread(law, "a", q.size)
    tail = np.broadcast_to(np.asarray(law.low / law.high), a.shape) ** a
    mass, low = -np.expm1(a * np.log(np.asarray(law.low / law.high))), in_units(law.low, unit)
    one_term, many_terms = (a == 1.0) & (tail >= LEAST_TAIL), (a > 1.0) & (mass <= LARGEST_MASS)
    for owners, (single, several) in alike(one_term, many_terms):
        if not (single or several):
            continue
        share, M = pick(q, owners), mass[owners]
        nodes, weights = (np.ones((1, owners.size)),) * 2
        if several:
            nodes, weights = power_quadrature(1.0 / a[owners], count_nodes(-float(np.max(M))))
        terms, side = second_order_terms(share, low[owners] * M * weights * nodes, -M * nodes)
        yield ConeForm(owners, cp.multiply(low[owners], share) + terms, tuple(side))
