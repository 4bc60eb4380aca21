"""Exact numbers rounded to doubles."""

from __future__ import annotations

import math
from fractions import Fraction


def nearest_double(exact: Fraction) -> float:
    """Return the double nearest to an exact number, infinite beyond the largest.

    Examples
    --------
    >>> nearest_double(Fraction(1, 3)), nearest_double(Fraction(-(10**400)))
    (0.3333333333333333, -inf)
    """
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
