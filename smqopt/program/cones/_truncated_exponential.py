"""The truncated exponential law.

C(q) = low q − q log(1 − Zq)/r, with Z = 1 − e^(−r width).
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm, alike, in_units, pick, spread
from smqopt.program.cones._logarithm import LARGEST_FALLING, by_quadrature, falling_logarithm
from smqopt.valuation import TruncatedExponential


def truncated_exponential_cost(law: TruncatedExponential, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = low q − q log(1 − Zq)/r with exponential or second-order cones.

    Appendix D; `logarithm`.
    """
    low, rate, mass = in_units(law.low, unit), spread(law, "rate", q.size) * unit, np.broadcast_to(law.mass, q.size)
    for owners, (curved,) in alike(mass > LARGEST_FALLING):
        share, Z, scale = pick(q, owners), mass[owners], 1.0 / rate[owners]
        log, side = falling_logarithm(share, Z, scale) if curved else by_quadrature(share, -Z, scale)
        yield ConeForm(owners, cp.multiply(low[owners], share) + log, tuple(side))
