"""The regularised incomplete gamma function in balls, at large shapes too."""

from __future__ import annotations

import math

from flint import arb, ctx

from smqopt.numeric._balls import Ball
from smqopt.numeric._work import A_TERM, count_work

SMALL = 32
"""Up to this shape Arb's own is quick and tight."""
MOST_TERMS = 100_000
"""Where more would be needed, nothing is enclosed."""
EVERY = 16
"""The rest of the series is bounded after so many terms."""


def incomplete_gamma(shape: Ball, t: Ball) -> Ball:
    """Enclose P(k, t), the mass below t > 0 of the gamma law of scale 1.

    P = t^k e^(−t)/Γ(k + 1) Σ t^m/((k + 1) … (k + m)) (DLMF 8.7.1), of positive terms: nothing
    cancels, and once they fall the rest is at most a geometric series. NaN where that takes more
    than `MOST_TERMS` terms.

    Examples
    --------
    >>> from flint import arb
    >>> abs(incomplete_gamma(arb(1000), arb(1000)) - arb("0.50420524418021550850")) < 1e-9
    True
    """
    if not (shape > SMALL and t < 2 * shape):
        return t.gamma_lower(shape, regularized=1)
    k, at = float(shape.mid()), float(t.mid())
    if max(at - k, 0.0) + math.sqrt(1.4 * ctx.prec * max(k, at)) > MOST_TERMS:
        return arb("nan")
    term, total, smallest = arb(1), arb(1), arb(2) ** -(ctx.prec + 4)
    for m in range(1, MOST_TERMS):
        ratio = t / (shape + m)
        term *= ratio
        total += term
        if m % EVERY == 0:
            count_work(A_TERM * EVERY)
        if m % EVERY == 0 and ratio < 1:
            rest = term * ratio / (1 - ratio)
            if rest < total * smallest:
                total += arb(0).union(rest)
                return total * (shape * t.log() - t - (shape + 1).lgamma()).exp()
    return arb("nan")
