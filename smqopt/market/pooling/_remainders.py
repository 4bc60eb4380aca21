"""What a polynomial through values of h may miss, from derivatives of its laws in balls.

On [m − r, m + r] the polynomial of degree N − 1 through h at the zeros of T_N((p − m)/r), a
Chebyshev polynomial, lies within max |h⁽ᴺ⁾/N!| r^N/2^(N−1) of h, a sum of (a − c p) F; and |h⁽ᴺ⁾/N!|
≤ Σ |a − c p| |F⁽ᴺ⁾/N!| + |c| |F⁽ᴺ⁻¹⁾/(N − 1)!|. What cancels in the sum has cancelled in its values.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.valuation import Valuation

if TYPE_CHECKING:
    from smqopt.valuation import PieceLaw, SmoothPiece

_NODES = 7
"""N."""
_ANGLES = (np.arange(_NODES) + 0.5) * (np.pi / _NODES)
PLACES = 0.5 + 0.5 * np.cos(_ANGLES)
"""Where h is worked out on a cell, from 0 to 1; shape (N,)."""
_TO_SERIES = np.cos(np.outer(np.arange(_NODES), _ANGLES)) * (2.0 / _NODES)
_TO_SERIES[0] *= 0.5


def tops_of_series(values: Floats) -> Floats:
    """Bound polynomials from values at `PLACES`, shape (N, k).

    The part up to x² by its top, and each further Chebyshev polynomial by 1.
    """
    series = _TO_SERIES @ values
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inner = -series[1] / (4.0 * series[2])
    x = np.where((series[2] < 0) & (np.abs(inner) < 1), inner, np.sign(series[1]))
    return np.asarray(series[0] + series[1] * x + series[2] * (2.0 * x * x - 1.0) + np.abs(series[3:]).sum(axis=0))


class Remainders:
    """Bounds of |F⁽ᴺ⁾/N!| r^N/2^(N−1) on cells, and of as much with N − 1 for N in the first.

    They are kept for other multipliers.
    """

    def __init__(self, laws: tuple[Valuation, ...]) -> None:
        self._laws = laws
        self._family, self._pieces, self._known = cache(self._family_of), cache(self._pieces_of), cache(self._bound)

    def at(self, family: Indices, place: Indices, low: Floats, high: Floats) -> Floats:
        """Bound both on cells from low to high; shape (2, k), not finite where not known."""
        columns = zip(*(column.tolist() for column in (family, place, low, high)), strict=True)
        return np.array([self._known(*each) for each in columns]).reshape(-1, 2).T

    def _family_of(self, family: int) -> PieceLaw | str:
        from smqopt.valuation import piece_law  # noqa: PLC0415 -- loads ball arithmetic

        return piece_law(self._laws[family], _NODES + 1)

    def _pieces_of(self, family: int, place: int) -> tuple[SmoothPiece, ...]:
        pieces = self._family(family)
        return () if isinstance(pieces, str) else pieces(place)

    def _bound(self, family: int, place: int, low: float, high: float) -> tuple[float, float]:
        from flint import arb  # noqa: PLC0415 -- most blocks are bounded without

        for piece in self._pieces(family, place):
            if piece.low <= low and high <= piece.high:
                reach = 2 * ((arb(high) - arb(low)) / 4) ** _NODES
                found = [float((reach * x).abs_upper()) for x in piece.taylor(arb(low), arb(high))[_NODES - 1 :]]
                return found[1], found[0]
        return math.inf, math.inf
