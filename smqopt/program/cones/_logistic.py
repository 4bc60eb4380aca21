"""The truncated logistic law.

C(q) = low q + scale (q log(1 + Yq) − q log(1 − Zq)), with Z = G(high)(1 − e^(−width/scale)), Y = Z
e^(−(low − mean)/scale).
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np
from scipy.special import log_expit

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm, alike, in_units, pick, spread
from smqopt.program.cones._logarithm import (
    LARGEST_FALLING,
    LARGEST_RISING,
    NEGLIGIBLE,
    by_quadrature,
    falling_logarithm,
    rising_logarithm,
    steep_logarithm,
)
from smqopt.valuation import Logistic

LEAST_TERM = 2.0**-13
"""The cones are used where neither term is smaller than this, in units of currency: one that hardly
counts makes solvers stall."""
LEAST_INVERSE = 2.0**-29
"""And where 1/Y is at least this, or too small to count beside acceptance 1: in between, entropies
of a large range stall."""
LEAST_FALL = 2.0**-14
"""The same as `LEAST_INVERSE` where Z needs the quadrature."""


def logistic_cost(law: Logistic, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) with exponential or second-order cones.

    Within the bounds named above (Appendix D; `logarithm`).

    Let G be the law before truncation, p = G(low) and D = G(high) − p. Acceptance q is u = p + Dq
    before truncation, and

        θ = mean + scale log(u/(1 − u)) = low + scale (log(u/p) − log((1 − u)/(1 − p))),

    where u/p = 1 + Yq with Y = D/p, and (1 − u)/(1 − p) = 1 − Zq with Z = D/(1 − p). Both terms of
    C are convex and none is negative, so that nothing cancels between them. Neither Y nor Z is made
    from D, which may lose all digits: 1/p = 1 + e^(−l), l = (low − mean)/scale.
    """
    low, scale = in_units(law.low, unit), spread(law, "scale", q.size) / unit
    start, end = (spread(law, name, q.size) - law.mean for name in ("low", "high"))
    start, end = start / law.scale, end / law.scale
    log_mass = log_expit(end) + np.log(-np.expm1(-np.broadcast_to(law.width, q.size) / law.scale))
    mass, log_inverse = np.exp(log_mass), start - log_mass
    falls, rises, steep = (
        mass > LARGEST_FALLING,
        log_inverse < -np.log(LARGEST_RISING),
        log_inverse < np.log(NEGLIGIBLE),
    )
    least = np.where(steep, -np.inf, np.log(np.where(falls, LEAST_INVERSE, LEAST_FALL)))
    smaller = scale * np.minimum(mass, np.exp(np.minimum(-log_inverse, 0.0)))
    stated = (smaller >= LEAST_TERM) & (log_inverse >= least)
    for owners, (exact, falling, rising, at_once) in alike(stated, falls, rises, steep):
        if not exact:
            continue
        share, Z, log_c, factor = pick(q, owners), mass[owners], log_inverse[owners], scale[owners]
        down, side = falling_logarithm(share, Z, factor) if falling else by_quadrature(share, -Z, factor)
        if rising:
            up, more = (steep_logarithm if at_once else rising_logarithm)(share, log_c, factor)
        else:
            up, more = by_quadrature(share, np.exp(-log_c), factor)
        yield ConeForm(owners, cp.multiply(low[owners], share) + up + down, (*side, *more))
