"""The least error over a polygon, exactly: a bound on all purchases and weights."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Corner:
    """The corner of a polygon with the least error."""

    error: float
    """A double below the error there; −∞ where nothing bounds it, +∞ where nothing is bought."""
    shrinkage: float
    """μ of the error's level curve through the corner: where to look next."""


def least_corner(
    planes: Sequence[tuple[float, float]], variance: float, width: float, population: int, *, exact: bool = True
) -> Corner:
    """Return the corner of {X ≤ U + μY, Y ≥ 0} where the error is least.

    The error is N² (σ² Y + 2 R²)/X² − N σ².

    {error ≥ t} is convex in (X, Y) where X > 0, so over a polygon the error is least at a corner.
    On the boundary μ falls from corner to corner; without a half-plane of μ = 0 it has no end.

    Parameters
    ----------
    planes
        (μ, U) of each half-plane, μ ≥ 0.
    variance, width, population
        σ², R and N.
    exact
        Whether in fractions; else in doubles, for a search.
    """
    number = Fraction if exact else float
    lines = [(number(mu), number(U)) for mu, U in planes if math.isfinite(U)]
    if not lines or min(lines)[0] > 0:
        return Corner(-math.inf, 0.0)
    s, R, N = number(variance), number(width), number(population)
    mu, X = min(lines, key=lambda line: (line[1], line[0]))
    if X <= 0:
        return Corner(math.inf, 0.0)
    corners, Y = [(X, number(0))], number(0)
    while mu > 0:
        flatter = [((U + m * Y - X) / (mu - m), m) for m, U in lines if m < mu]
        ahead, mu_next = min(flatter)
        X, Y, mu = X + mu * ahead, Y + ahead, mu_next
        corners.append((X, Y))
    error, X, Y = min((N**2 * (s * Y + 2 * R**2) / X**2 - N * s, X, Y) for X, Y in corners)
    below = float(error) if error < _LARGEST else _LARGEST
    below = math.nextafter(below, -math.inf) if Fraction(below) > error else below
    return Corner(below, float(s * X / (2 * (s * Y + 2 * R**2))))
