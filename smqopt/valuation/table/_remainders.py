"""Bounds of derivatives of laws on intervals, for polynomials through sums.

On [m − r, m + r] the polynomial of degree N − 1 through a function h at the zeros of T_N((p −
m)/r), a Chebyshev polynomial, lies within max |h⁽ᴺ⁾/N!| r^N/2^(N−1) of h. For h = Σ (a − c p) F
that is at most Σ |a − c p| |F⁽ᴺ⁾/N!| + |c| |F⁽ᴺ⁻¹⁾/(N − 1)!|, times r^N/2^(N−1).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from flint import arb

from smqopt.numeric import Floats, Indices
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.table._smooth_piece import PieceLaw, SmoothPiece
from smqopt.valuation.table._smooth_pieces import piece_law


class Remainders:
    """Bounds of |F⁽ᴺ⁾/N!| and |F⁽ᴺ⁻¹⁾/(N − 1)!|, times r^N/2^(N−1), of laws.

    What was found once is kept.

    Parameters
    ----------
    laws
        Families, each common or one law an owner.
    order
        N.
    """

    def __init__(self, laws: tuple[Valuation, ...], order: int) -> None:
        self._laws, self._order = laws, order
        self._family, self._pieces, self._known = cache(self._family_of), cache(self._pieces_of), cache(self._bound)

    def at(self, family: Indices, place: Indices, low: Floats, high: Floats) -> Floats:
        """Bound both from low to high; shape (2, k), not finite where not known."""
        columns = zip(*(column.tolist() for column in (family, place, low, high)), strict=True)
        return np.array([self._known(*each) for each in columns]).reshape(-1, 2).T

    def _family_of(self, family: int) -> PieceLaw | str:
        return piece_law(self._laws[family], self._order + 1)

    def _pieces_of(self, family: int, place: int) -> tuple[SmoothPiece, ...]:
        pieces = self._family(family)
        return () if isinstance(pieces, str) else pieces(place)

    def _bound(self, family: int, place: int, low: float, high: float) -> tuple[float, float]:
        for piece in self._pieces(family, place):
            if piece.low <= low and high <= piece.high:
                reach = 2 * ((arb(high) - arb(low)) / 4) ** self._order
                found = [float((reach * x).abs_upper()) for x in piece.taylor(arb(low), arb(high))[self._order - 1 :]]
                return found[1], found[0]
        return math.inf, math.inf
