"""The law of θ given ε under a Gaussian copula, in balls.

F_i = Φ((x − r z)/s) with x = Φ⁻¹(F), r = 2 sin(πρ/6) and s = √(1 − r²), so that f_i = f
exp(½(x² − y²))/s with y = (x − r z)/s. The Taylor coefficients of x come from x′ = f √(2π)
exp(½x²), one more with each integration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb, arb_series

from smqopt.numeric import Ball


@dataclass(frozen=True)
class ScoreLink:
    """What one owner's requirement makes of F, at the precision of the context."""

    r: Ball
    s: Ball
    z: Ball
    """The normal score of ε."""

    @classmethod
    def of(cls, correlation: float, score: float) -> ScoreLink:
        """Return the link of Spearman's ρ and a normal score."""
        r = 2 * (arb.pi() * arb(correlation) / 6).sin()
        return cls(r, (1 - r * r).sqrt(), arb(score))

    def cdf(self, F: Ball) -> Ball:
        """Return F_i where the marginal cdf is F; not finite at 0 and 1."""
        return ((self.r * self.z - _score(F)) / (self.s * arb(2).sqrt())).erfc() / 2

    def pdf(self, F: Ball, f: Ball) -> Ball:
        """Return f_i where the marginal cdf is F, and its density f."""
        x = _score(F)
        y = (x - self.r * self.z) / self.s
        return f * ((x - y) * (x + y) / 2).exp() / self.s

    def taylor(self, F: Sequence[Ball]) -> list[Ball]:
        """Return as many Taylor coefficients of F_i as are given of F."""
        order = len(F)
        start = arb_series([_score(F[0])], order)
        f, x, half = arb_series(list(F), order).derivative(), arb_series([_score(F[0])], 1), arb_series([0.5], order)
        for _ in range(order - 1):
            x = start + (f * arb_series([(2 * arb.pi()).sqrt()], order) * (x * x * half).exp()).integral()
        scale = arb_series([-1 / (self.s * arb(2).sqrt())], order)
        found = ((x - arb_series([self.r * self.z], order)) * scale).erfc() * half
        return [found[k] if k < found.prec else arb("nan") for k in range(order)]


def _score(F: Ball) -> Ball:
    """Return Φ⁻¹, which rises."""
    low, high = (-arb(2).sqrt() * (2 * end).erfcinv() for end in (F.lower(), F.upper()))
    return low.union(high)
