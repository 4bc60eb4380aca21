"""Gauss–Legendre rules whose nodes and weights are the nearest doubles.

Those that come from eigenvalues lose digits of the weights near the ends, where an integrand that
decays has its mass.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import arb, ctx

from smqopt.numeric._arrays import Floats

_BITS = 128


@lru_cache
def legendre_rule(count: int) -> tuple[Floats, Floats]:
    """Return nodes and weights on [0, 1].

    Examples
    --------
    >>> nodes, weights = legendre_rule(8)
    >>> abs(float(weights @ nodes**3) - 0.25) < 1e-16
    True
    """
    with ctx.workprec(_BITS):
        rule = [arb.legendre_p_root(count, k, weight=True) for k in reversed(range(count))]
        nodes, weights = (
            np.array(column) for column in zip(*((float((1 + x) / 2), float(w / 2)) for x, w in rule), strict=True)
        )
    return nodes, weights
