"""Cells of a support on which a polynomial in doubles encloses F.

Its derivative encloses f.

With c the middle of a cell [a, b], h its half width and T_k the Taylor coefficients of F at c,
F(θ) = Σ_{k≤d} T_k (θ − c)^k + W (θ − c)^{d+1} with W in the coefficient d + 1 over the whole cell
(Taylor with Lagrange's remainder). What doubles lose is added: the rounding of coefficients, and
that of Horner's rule (Higham 2002, *Accuracy and Stability of Numerical Algorithms*, section 5.1).
Cells are cut until the remainder is below rounding; where that cannot be, at an end where f has no
limit, or at a point where it vanishes, F between the ends of the cell is all that is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import arb

from smqopt.numeric import Ball, rounded_down, rounded_up
from smqopt.valuation.table._smooth_piece import SmoothPiece

DEGREE = 7
ORDER = DEGREE + 2
"""How many Taylor coefficients are asked of a law."""
BITS = 128
"""Precision of the balls."""
MISS = 2.0**-55
"""The remainder of F that is aimed at, relative to F,"""
LEAST = 2.0**-48
"""or to this where F is less."""
DENSITY_MISS = 2.0**-46
"""The remainder of f that is aimed at, relative to f; for a bound on the optimum 1 − F times as
much would do,"""
NEAR_TOP = 2.0**-3
"""and where that is less than this, so much less is asked."""
SLIGHT = 2.0**-58
"""A cell on which F rises by less than this share need not be cut."""
UNIT = 2.0**-53
"""The unit roundoff of doubles."""
_UNDERFLOW = arb(2) ** -1000
_SLACK = 1 + arb(2) ** -30
_LARGEST = 2.0**1000
FAINT = 2.0**-64
"""Where F is less than this its cells are not cut."""
MOST_CELLS = 40_000
"""Cells that are looked at; what is left open then keeps F at its ends."""
_MOST_CUTS = 5
"""log2 of the parts into which a cell is cut at once."""


@dataclass(frozen=True, slots=True)
class TaylorCell:
    """F(θ) ∈ Σ c_k (θ − middle)^k ± error, by Horner's rule in doubles."""

    low: float
    high: float
    middle: float
    coefficients: tuple[float, ...]
    error: float
    """Of F, in probability, the rounding of its evaluation and of the ends included."""
    density_error: float
    """Of f, per unit of currency; +∞ where nothing is known of it."""


def cells_of(pieces: Sequence[SmoothPiece]) -> Iterator[TaylorCell]:
    """Yield cells from the low end to the high one, at the precision of the context.

    Parameters
    ----------
    pieces
        The smooth pieces of a law, in their order.
    """
    left, before = MOST_CELLS, None
    for piece in pieces:
        if before is not None and before.high < piece.low:  # an edge between two doubles
            yield _between(before.high, piece.low, before.cdf(arb(before.high)), piece.cdf(arb(piece.low)))
        waiting = [(piece.low, piece.high)]
        while waiting:
            a, b = waiting.pop()
            left -= 1
            found = cell_at(piece, a, b)
            parts = _split(a, b, found if isinstance(found, int) else 1)
            if isinstance(found, TaylorCell):
                yield found
            elif left <= 0 or not parts or _is_slight(piece, a, b):
                yield _between(a, b, piece.cdf(arb(a)), piece.cdf(arb(b)))
            else:
                waiting += parts[::-1]
        before = piece


def cell_at(piece: SmoothPiece, a: float, b: float, given: Sequence[float] | None = None) -> TaylorCell | int:
    """Enclose F and f on [a, b]; or say into 2^k parts it should be cut, as k.

    Parameters
    ----------
    piece
        Holds the cell.
    a, b
        Its ends.
    given
        Coefficients to be enclosed with, whatever remainder they leave; those of Taylor by default.
    """
    middle = a + (b - a) / 2
    low, high, centre = arb(a), arb(b), arb(middle)
    T, W = piece.taylor(centre, centre), piece.taylor(low, high)[DEGREE + 1]
    if not all(t.is_finite() for t in T[: DEGREE + 1]):
        return 1
    h = (high - centre).max(centre - low)
    powers = [h**k for k in range(DEGREE + 2)]
    rest, slope_rest = abs(W) * powers[DEGREE + 1], (DEGREE + 1) * abs(W) * powers[DEGREE]
    if given is None:
        F, f = T[0], T[1]
        if not rest.is_finite() or not f > 0 or not _is_level(T, powers):
            return 1
        allowed = MISS * max(float(F.mid()), LEAST)
        slope_allowed = DENSITY_MISS * float(f.mid()) / max(1.0 - float(F.mid()), NEAR_TOP)
        beyond = max(float(rest.upper()) / allowed, float(slope_rest.upper()) / slope_allowed)
        if not beyond <= 1:
            return max(1, min(_MOST_CUTS, math.ceil(math.log2(beyond) / DEGREE))) if beyond < math.inf else 1
    c = tuple(_coefficient(t) for t in T[: DEGREE + 1]) if given is None else tuple(given)
    sizes = [abs(arb(x)) * power for x, power in zip(c, powers, strict=False)]
    off = [abs(t - arb(x)) for t, x in zip(T, c, strict=False)]
    rounding = sum(((3 * k + 2) * size for k, size in enumerate(sizes)), arb(0)) * UNIT * _SLACK
    error = sum((miss * power for miss, power in zip(off, powers, strict=False)), rest) + rounding + _UNDERFLOW
    slopes = [k * abs(arb(x)) * powers[k - 1] for k, x in enumerate(c) if k]
    slope_rounding = 5 * ORDER * sum(slopes, arb(0)) * UNIT * _SLACK
    slope_error = (
        sum((k * off[k] * powers[k - 1] for k in range(1, DEGREE + 1)), slope_rest) + slope_rounding + _UNDERFLOW
    )
    found = TaylorCell(a, b, middle, c, rounded_up(error * _SLACK), rounded_up(slope_error * _SLACK))
    return found if math.isfinite(found.error) and math.isfinite(found.density_error) else 1


def _coefficient(t: Ball) -> float:
    """Round a Taylor coefficient; what is beyond doubles becomes error."""
    c = float(t.mid())
    return c if abs(c) < _LARGEST else 0.0


def _is_level(T: Sequence[Ball], powers: Sequence[Ball]) -> bool:
    """Return whether F and f vary little enough for roundings to be small."""
    F, f = arb(0), arb(0)
    for k in range(1, DEGREE + 1):
        F += abs(T[k]) * powers[k]
        f += k * abs(T[k]) * powers[k - 1] if k > 1 else 0
    level = T[0] / 2 >= F or T[0] <= LEAST
    return bool(level and (f <= T[1] / 2 or f * (1 - T[0]) <= T[1] / 2))


def _between(a: float, b: float, at_a: Ball, at_b: Ball) -> TaylorCell:
    """Say no more than that F does not fall."""
    least, most = max(rounded_down(at_a), 0.0), min(rounded_up(at_b), 1.0)
    middle = least + (most - least) / 2
    c = (middle, *(0.0,) * DEGREE)
    error = rounded_up(((arb(most) - middle).max(arb(middle) - least) + 2 * UNIT * arb(most)) * _SLACK + _UNDERFLOW)
    return TaylorCell(a, b, a + (b - a) / 2, c, error, math.inf)


def _split(a: float, b: float, halvings: int) -> list[tuple[float, float]]:
    """Cut a cell into parts with doubles between; none where there are none."""
    count = 1 << halvings
    ends = sorted({a, *(a + (b - a) * (k / count) for k in range(1, count)), b})
    return list(pairwise(ends)) if len(ends) > 2 else []


def _is_slight(piece: SmoothPiece, a: float, b: float) -> bool:
    """Return whether F hardly rises on a cell, beside what is aimed at."""
    F = piece.cdf(arb(b))
    return bool(F <= FAINT) or bool(F - piece.cdf(arb(a)) <= SLIGHT * F)
