"""The uniform law: C(q) = low q + width q²."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm, in_units
from smqopt.valuation import Uniform


def uniform_cost(law: Uniform, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = low q + width q² with one second-order cone an owner.

    Appendix D.
    """
    cost = cp.multiply(in_units(law.low, unit), q) + cp.multiply(in_units(law.width, unit), cp.square(q))
    yield ConeForm(np.arange(q.size), cost)
