"""Laws that are another law, one with a cone form, for special parameters.

Each owner whose parameters are such gets that form.
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm, for_owners, spread
from smqopt.program.cones._kumaraswamy import kumaraswamy_cost
from smqopt.program.cones._power import power_cost
from smqopt.program.cones._truncated_exponential import truncated_exponential_cost
from smqopt.valuation import Beta, Gamma, Kumaraswamy, Power, TruncatedExponential, Weibull


def beta_or_kumaraswamy_cost(law: Beta | Kumaraswamy, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) where b = 1, as that of a power law: F = x^a.

    And where a = 1, as Kumaraswamy's: F = 1 − (1 − x)^b.
    """
    a, b, low, high = (spread(law, name, q.size) for name in ("a", "b", "low", "high"))
    power, mirrored = np.flatnonzero(b == 1.0), np.flatnonzero((a == 1.0) & (b != 1.0))
    yield from for_owners(power_cost, lambda: Power(a[power], low[power], high[power]), q, unit, power)
    yield from for_owners(
        kumaraswamy_cost,
        lambda: Kumaraswamy(1.0, b[mirrored], low[mirrored], high[mirrored]),
        q,
        unit,
        mirrored,
    )


def gamma_or_weibull_cost(law: Gamma | Weibull, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State C(q) = q F⁻¹(q) for shape 1, as of a truncated exponential law.

    Its rate is 1/scale.
    """
    shape, scale, low, high = (spread(law, name, q.size) for name in ("shape", "scale", "low", "high"))
    owners = np.flatnonzero(shape == 1.0)
    yield from for_owners(
        truncated_exponential_cost,
        lambda: TruncatedExponential(1.0 / scale[owners], low[owners], high[owners]),
        q,
        unit,
        owners,
    )
