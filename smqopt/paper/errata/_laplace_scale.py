"""E7: the scale of FairQuery's noise."""

from __future__ import annotations

import math
from collections.abc import Callable

from smqopt.numeric import ROUNDING
from smqopt.paper.errata._entry import Claim, Entry, Finding

Scale = Callable[[int], float]
"""From n − k to the scale b of the noise, whose density is exp(−|x|/b)/(2b)."""


def of_that_variance(left: int) -> float:
    """Lap with variance n − k: 2b² = n − k."""
    return math.sqrt(left / 2)


def of_that_scale(left: int) -> float:
    """Lap with b = n − k."""
    return float(left)


def _trial(scale: Scale) -> Finding:
    """Check that one entry moves the count by 1, and the log-ratio by 1/b."""
    for left in range(1, 101):
        b = scale(left)
        loss = max(abs(abs(x - 1) - abs(x)) / b for x in (-1.0, 0.0, 0.5, 1.0, 2.0))
        if loss > (1.0 + ROUNDING.value) / left:
            return Finding(
                False, f"n − k = {left}: a privacy loss of {loss:.4f} where 1/(n − k) = {1 / left:.4f} is promised"
            )
    return Finding(True, "a privacy loss of 1/(n − k) for n − k = 1, …, 100")


LAPLACE_SCALE = Entry(
    "E7",
    "FQ baseline",
    Claim("Laplace noise of variance n − k", of_that_variance),
    Claim("of scale n − k, variance 2(n − k)²", of_that_scale),
    _trial,
)
