"""The Kumaraswamy law with a = 1.

C(q) = low q + width (q + y^(1 + 1/b) − y^(1/b)) with y = 1 − q.
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm, in_units, pick, spread
from smqopt.valuation import Kumaraswamy

LARGEST_SHAPE = 16.0
"""Up to this b the cone form is used: the terms are of order 1, and their sum of order 1/b."""


def kumaraswamy_cost(law: Kumaraswamy, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) with power cones for a = 1, 1 < b ≤ `LARGEST_SHAPE`.

    Appendix D.

    For a = 1, F⁻¹(q) = low + width (1 − y^(1/b)) with y = 1 − q, and q y^(1/b) = y^(1/b) − y^(1 +
    1/b), so that

        C(q) = low q + width (q + y^(1 + 1/b) − y^(1/b)),

    a sum of an affine function and two convex ones, as 0 < 1/b < 1.
    """
    a, b = spread(law, "a", q.size), spread(law, "b", q.size)
    owners = np.flatnonzero((a == 1.0) & (b > 1.0) & (b <= LARGEST_SHAPE))
    if owners.size:
        low, width = in_units(law.low, unit)[owners], in_units(law.width, unit)[owners]
        share, alpha, one = pick(q, owners), 1.0 / b[owners], np.ones(owners.size)
        high, root = cp.Variable(owners.size, name="high_power"), cp.Variable(owners.size, name="root")
        side = (
            cp.PowCone3D(high, one, 1.0 - share, 1.0 / (1.0 + alpha)),
            cp.PowCone3D(1.0 - share, one, root, alpha),
        )
        cost = cp.multiply(low + width, share) + cp.multiply(width, high - root)
        yield ConeForm(owners, cost, side)
