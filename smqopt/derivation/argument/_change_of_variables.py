"""The change of variables b = θF(θ), which makes OP2 convex (Appendix D)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp

from smqopt.algebra import SPEND, Domain, F, X, f, power_exponent
from smqopt.derivation.argument._inversion import invert
from smqopt.valuation import LawFormulas


@dataclass(frozen=True)
class ChangeOfVariables:
    """A continuous, strictly monotone map of one interval onto another."""

    image: sp.Expr
    """θF(θ), with F spelled out, in currency."""
    domain: tuple[sp.Expr, sp.Expr]
    """The ends of the support."""
    range: tuple[sp.Expr, sp.Expr]
    """The images of those ends, in their order."""
    slope: sp.Expr
    """The derivative, in F and f."""
    sign: int
    """The sign of the derivative within the domain: 1 or −1."""
    inverse: sp.Expr | None
    """θ as a function of `letters.SPEND`; None where no closed form was found."""
    low: sp.Expr | None
    """What the low end must be for the inverse; None where it may be anything."""

    def fix(self, values: dict[sp.Symbol, sp.Expr]) -> ChangeOfVariables:
        """Fix the values of some symbols."""
        (a, b), (c, d) = self.domain, self.range
        return replace(
            self,
            image=self.image.subs(values),
            domain=(a.subs(values), b.subs(values)),
            range=(c.subs(values), d.subs(values)),
            inverse=None if self.inverse is None else self.inverse.subs(values),
        )


def spend_change(law: LawFormulas, domain: Domain) -> ChangeOfVariables:
    """Describe b = θF(θ) on the support of a law, with its inverse where one is found.

    Parameters
    ----------
    law
        The law.
    domain
        The parameters' ranges and the support.
    """
    theta = law.theta
    image = theta * law.cdf
    inverse, low = _inverse(law, image, domain)
    return ChangeOfVariables(
        image=image,
        domain=(law.low, law.high),
        range=(sp.Integer(0), law.high),
        slope=F(theta) + theta * f(theta),
        sign=1,
        inverse=inverse,
        low=low,
    )


def _inverse(law: LawFormulas, image: sp.Expr, domain: Domain) -> tuple[sp.Expr | None, sp.Expr | None]:
    """Solve θF(θ) = b: a power of θ, where the support begins at 0, or of degree ≤ 2."""
    zero = sp.Integer(0)
    if law.low == 0 or isinstance(law.low, sp.Symbol):
        at_zero = {} if law.low == 0 else {law.low: zero}
        exponent = power_exponent(image.subs(at_zero), law.theta, zero, domain.with_values(at_zero))
        is_law = law.cdf.subs(at_zero).subs(law.theta, zero) == 0  # at low = 0 a Pareto law is none
        if exponent is not None and exponent != 2 and is_law:
            return law.high * (SPEND / law.high) ** (1 / exponent), zero if at_zero else None
    found = invert(image, law.theta, domain)
    return (None, None) if found is None else (_by_spend(found.threshold.subs(X, SPEND)), None)


def _by_spend(inverse: sp.Expr) -> sp.Expr:
    """Collect powers of b under square roots, so that b = θF(θ) cancels."""
    half = sp.Rational(1, 2)
    return inverse.replace(
        lambda part: part.is_Pow and part.exp == half and part.base.is_polynomial(SPEND),
        lambda part: sp.sqrt(sp.collect(sp.expand(part.base), SPEND, sp.factor)),
    )
