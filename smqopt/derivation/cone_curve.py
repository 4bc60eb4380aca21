"""The cost curve C(q) = q F⁻¹(q) of a law whose epigraph a few cones state exactly: a power of q, or entropy and logarithm.

Found from F alone: the step that uses it proves it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

import sympy as sp

from smqopt.derivation.domain import Domain
from smqopt.derivation.law_formulas import LawFormulas
from smqopt.derivation.letters import ACCEPTANCE
from smqopt.derivation.powers import exponential_rate, power_exponent

__all__ = ["Cone", "ConeCurve", "cone_curve"]


class Cone(enum.Enum):
    """The cone that states the epigraph of a cost curve; the value names the atoms."""

    SECOND_ORDER = "square"
    POWER = "power"
    EXPONENTIAL = "logarithm and entropy"


@dataclass(frozen=True)
class ConeCurve:
    """C(q), and the cone that states C(q) ≤ b."""

    cone: Cone
    quantile: sp.Expr
    """F⁻¹(q) in `letters.ACCEPTANCE`, in currency."""
    cost: sp.Expr
    """C(q) as an affine part plus non-negative multiples of convex atoms, in currency."""
    parameter: sp.Expr
    """The exponent 1 + 1/k of the power, or Z = 1 − e^(−r(high − low)), the mass within the support."""
    weight: sp.Expr
    """What multiplies the convex atoms, in currency."""

    def fixed(self, values: dict[sp.Symbol, sp.Expr]) -> ConeCurve:
        """Fix the values of some symbols."""
        parts = ("quantile", "cost", "parameter", "weight")
        return replace(self, **{part: getattr(self, part).subs(values) for part in parts})


def cone_curve(law: LawFormulas, domain: Domain) -> ConeCurve | None:
    """Find the cost curve of a law that is a power of θ − low, or an exponential; None for any other.

    F = ((θ − low)/(high − low))^k      C = low q + (high − low) q^(1 + 1/k)
    F = (1 − e^(−r(θ − low)))/Z         C = low q + (1/(rZ)) (y log y − log y),   y = 1 − Zq

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
    rate = exponential_rate(law.pdf, law.theta, law.low, domain)
    if rate is None:
        return None
    mass = 1 - sp.exp(-rate * width)
    y = 1 - mass * q
    weight = 1 / (rate * mass)
    cost = law.low * q + weight * (y * sp.log(y) - sp.log(y))
    return ConeCurve(Cone.EXPONENTIAL, law.low - sp.log(y) / rate, cost, mass, weight)
