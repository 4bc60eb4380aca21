"""The power law: C(q) = low q + width q^(1 + 1/k)."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.program.cones._form import ConeForm, in_units, pick, spread
from smqopt.valuation import Power

_SECOND_ORDER = (1.5, 2.0, 3.0, 4.0, 6.0)
"""Exponents that a few second-order cones state exactly, as t ≥ q³ by t q ≥ s², s ≥ q². Solvers get
further with these than with power cones."""


def power_cost(law: Power, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = low q + width q^(1 + 1/k) with power or second-order cones.

    Appendix D.

    With α = k/(k + 1):  t ≥ q^(1 + 1/k)  ⟺  t^α 1^(1−α) ≥ q  ⟺  (t, 1, q) ∈ PowCone3D(α).

    The exponents 3/2, 2, 3, 4 and 6, of k = 2, 1, 1/2, 1/3 and 1/5, are stated by second-order
    cones instead. Where k is so large that α rounds to 1, q^(1 + 1/k) is q to the last bit.
    """
    low, width = in_units(law.low, unit), in_units(law.width, unit)
    k = spread(law, "k", q.size)
    exponent, alpha = 1.0 + 1.0 / k, 1.0 / (1.0 + 1.0 / k)

    def form(owners: Indices, power: cp.Expression, *side: cp.Constraint) -> ConeForm:
        cost = cp.multiply(low[owners], pick(q, owners)) + cp.multiply(width[owners], power)
        return ConeForm(owners, cost, side)

    linear = alpha >= 1.0
    if np.any(linear):
        owners = np.flatnonzero(linear)
        yield form(owners, pick(q, owners))
    for p in _SECOND_ORDER:
        owners = np.flatnonzero(exponent == p)
        if owners.size:
            yield form(owners, cp.power(pick(q, owners), p, approx=True))  # the approximation by a fraction is p itself
    owners = np.flatnonzero(~linear & ~np.isin(exponent, _SECOND_ORDER))
    if owners.size:
        t = cp.Variable(owners.size, name="power_of_acceptance")
        yield form(owners, t, cp.PowCone3D(t, np.ones(owners.size), pick(q, owners), alpha[owners]))
