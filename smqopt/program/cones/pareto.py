"""The truncated Pareto law: C(q) = (low/M)(y^(−1/a) − y^(1 − 1/a)) with y = 1 − Mq and M = 1 − (low/high)^a, for a ≥ 1."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.program.cones.by_pieces import rest_by_pieces
from smqopt.program.cones.form import ConeForm, Floats, in_units, pick, spread
from smqopt.valuation.pareto import Pareto

__all__ = ["LEAST_MASS", "LEAST_TAIL", "pareto_cost"]

LEAST_MASS = 0.2
"""From this M on the cone form is used: below, its two terms are nearly the same, and most digits of their difference would be lost."""
LEAST_TAIL = 2.0**-12
"""And where 1 − M is at least this: below, y^(−1/a) has too large a range."""


def pareto_cost(law: Pareto, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) with power cones, or second-order ones for a = 1, and by straight pieces for other owners (Appendix D).

    The cones are used where a ≥ 1 and M is neither small nor next to 1.

    F⁻¹(q) = low y^(−1/a) and q = (1 − y)/M, so that C(q) = (low/M)(y^(−1/a) − y^(1 − 1/a)): both terms are convex, as 0 ≤ 1 − 1/a < 1.

    Parameters
    ----------
    law
        Pareto laws of m owners, or one law common to them.
    q
        Acceptances, an affine expression of shape (m,).
    unit
        Units of currency, shape (m,).
    """
    a = spread(law, "a", q.size)
    tail = np.broadcast_to(np.asarray(law.low / law.high), a.shape) ** a
    exact = (a >= 1.0) & (1.0 - tail >= LEAST_MASS) & (tail >= LEAST_TAIL)
    for owners, with_root in ((np.flatnonzero(exact & (a == 1.0)), False), (np.flatnonzero(exact & (a > 1.0)), True)):
        if not owners.size:
            continue
        mass, alpha, one = 1.0 - tail[owners], 1.0 / a[owners], np.ones(owners.size)
        y = 1.0 - cp.multiply(mass, pick(q, owners))
        inverse = cp.Variable(owners.size, name="inverse_power")
        less: cp.Expression = cp.Constant(one)
        if with_root:
            less = cp.Variable(owners.size, name="power")
            side = [cp.PowCone3D(inverse, y, one, 1.0 / (1.0 + alpha)), cp.PowCone3D(y, one, less, 1.0 - alpha)]
        else:
            side = [cp.SOC(inverse + y, cp.vstack([2.0 * one, inverse - y]), axis=0)]  # inverse · y ≥ 1
        yield ConeForm(owners, cp.multiply(in_units(law.low, unit)[owners] / mass, inverse - less), tuple(side))
    yield from rest_by_pieces(law, q, unit, np.flatnonzero(~exact))
