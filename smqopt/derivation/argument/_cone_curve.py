"""Cost curves C(q) = q F⁻¹(q) whose epigraph a few cones state exactly.

Found from F alone: the step that uses it proves it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

import sympy as sp

from smqopt.algebra import ACCEPTANCE, Domain, exponential_rate, power_exponent
from smqopt.valuation import LawFormulas

_OF_INVERSE = -2
"""The density c/θ² belongs to F = c (1/low − 1/θ)."""


class Cone(enum.Enum):
    """The cone that states the epigraph of a cost curve; the value names the atoms."""

    SECOND_ORDER = "square"
    POWER = "power"
    EXPONENTIAL = "logarithm and entropy"
    FALLING_POWER = "power of what is not accepted"
    INVERSE = "inverse"


@dataclass(frozen=True)
class ConeCurve:
    """C(q), and the cone that states C(q) ≤ b."""

    cone: Cone
    quantile: sp.Expr
    """F⁻¹(q) in `letters.ACCEPTANCE`, in currency."""
    cost: sp.Expr
    """C(q) as an affine part plus non-negative multiples of convex atoms, in currency."""
    parameter: sp.Expr
    """The exponent 1 + 1/k of the power, or 1/b of what is not accepted; or Z = 1 − e^(−r(high −
    low)) or M = 1 − low/high, the mass within the support."""
    weight: sp.Expr
    """What multiplies the convex atoms, in currency."""

    def fix(self, values: dict[sp.Symbol, sp.Expr]) -> ConeCurve:
        """Fix the values of some symbols."""
        parts = ("quantile", "cost", "parameter", "weight")
        return replace(self, **{part: getattr(self, part).subs(values) for part in parts})


def cone_curve(law: LawFormulas, domain: Domain) -> ConeCurve | None:
    """Find the cost curve of a law whose quantile cones can state; else None.

    F = ((θ − low)/(high − low))^k      C = low q + (high − low) q^(1 + 1/k) F = (1 − e^(−r(θ −
    low)))/Z         C = low q + (1/(rZ)) (y log y − log y),   y = 1 − Zq F = 1 − ((high − θ)/(high
    − low))^b   C = high q + (high − low) (y^(1 + 1/b) − y^(1/b)),   y = 1 − q F = (1 − low/θ)/M
    C = (low/M) (1/y − 1),   y = 1 − Mq

    Parameters
    ----------
    law
        The law.
    domain
        The parameters' ranges and the support.
    """
    if law.pieces:
        return None
    q, width = ACCEPTANCE, law.high - law.low
    k = power_exponent(law.cdf, law.theta, law.low, domain)
    if k is not None:
        exponent = 1 + 1 / k
        quantile = law.low + width * q ** (1 / k)
        cone = Cone.SECOND_ORDER if k == 1 else Cone.POWER
        return ConeCurve(cone, quantile, law.low * q + width * q**exponent, exponent, width)
    b = power_exponent(1 - law.cdf, law.theta, law.high, domain)
    if b is not None:
        y = 1 - q
        cost = law.high * q + width * (y ** (1 + 1 / b) - y ** (1 / b))
        return ConeCurve(Cone.FALLING_POWER, law.high - width * y ** (1 / b), cost, 1 / b, width)
    if power_exponent(law.pdf, law.theta, sp.Integer(0), domain) == _OF_INVERSE:
        mass = 1 - law.low / law.high
        y = 1 - mass * q
        weight = law.low / mass
        return ConeCurve(Cone.INVERSE, law.low / y, weight * (1 / y - 1), mass, weight)
    rate = exponential_rate(law.pdf, law.theta, law.low, domain)
    if rate is None:
        return None
    mass = 1 - sp.exp(-rate * width)
    y = 1 - mass * q
    weight = 1 / (rate * mass)
    cost = law.low * q + weight * (y * sp.log(y) - sp.log(y))
    return ConeCurve(Cone.EXPONENTIAL, law.low - sp.log(y) / rate, cost, mass, weight)
