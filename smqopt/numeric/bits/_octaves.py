"""Tables of a function between powers of two, with a proved error.

A table answers from the bits of its argument: the exponent and the first bits of the mantissa
number the piece, the others are the distance from its middle. Polynomials come from interpolation
at Chebyshev points of longer stretches, by expansion about the middles of the pieces (Trefethen
2019, *Approximation Theory and Approximation Practice*, chapters 3 and 8). Where a stretch does not
pass its check, parts of it are tried, down to 2^-8 of an octave; what does not pass then is left
out and answers NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric._arrays import Floats

Indices = NDArray[np.int64]

_DEGREE = 4
_NODES = 16
_CHEBYSHEV = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
"""The points of a stretch at which the function is interpolated, as shares of its half width."""
_LEVELS = (1, 3, 5, 8)
"""log2 of the stretches of an octave, from the first tried to the last."""
_PROBES = np.array([-1.0, -0.9453125, -0.3046875, 0.1328125, 0.7578125, 1.0 - 2.0**-40])
"""Where a stretch is checked, as shares of its half width: at its ends, so that no jump hides
beyond the last node, and between nodes."""
_MOST_STRETCHES = 1 << 10
"""More short stretches than this are not tried: the function is not smooth, or too noisy for the
demand."""


@dataclass(frozen=True, eq=False)
class OctaveTable:
    """A function of positive numbers, tabulated between powers of two."""

    lowest: int
    highest: int
    bits: int
    """log2 of the pieces of an octave."""
    coefficients: Floats
    """Shape (degree + 1, pieces + 2), about the middle of each piece; the first and last column
    stand for what is outside."""

    def __call__(self, u: Floats, out: Floats | None = None) -> Floats:
        """Evaluate the table; arrays of any shape."""
        shift = 52 - self.bits
        given = u.view(np.int64)
        piece = given >> shift
        piece -= ((self.lowest + 1023) << self.bits) - 1
        middle = given & -(1 << shift)
        middle |= 1 << (shift - 1)
        z = u - middle.view(np.float64)
        value = np.take(self.coefficients[-1], piece, out=out, mode="clip")
        term = middle.view(np.float64)  # its memory, used again
        for column in self.coefficients[-2::-1]:
            value *= z
            value += np.take(column, piece, out=term, mode="clip")
        return value

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return int(self.coefficients.shape[1]) - 2

    def edges(self, piece: Indices) -> Floats:
        """Return the lower edges of pieces, counted from 0."""
        part = piece & ((1 << self.bits) - 1)
        return np.asarray(np.ldexp(1.0 + part / (1 << self.bits), self.lowest + (piece >> self.bits)))


def tabulate(
    function: Callable[[Floats], Floats],
    allowed: Callable[[Floats], Floats],
    lowest: int,
    highest: int,
    *,
    beyond: float,
    bits: int = 8,
) -> OctaveTable:
    """Make the table of a function on [2^lowest, 2^highest].

    Parameters
    ----------
    function
        Gives values for an array of arguments, shape (m,).
    allowed
        Gives, for values of the function, by how much the table may miss them; a piece is kept
        where its stretch misses none of the values it is checked against by more.
    lowest, highest
        Powers of two; lowest < highest.
    beyond
        What the table answers from 2^highest on; NaN for nothing.
    bits
        log2 of the pieces of an octave, at least 8.
    """
    pieces = (highest - lowest) << bits
    coefficients = np.full((_DEGREE + 1, pieces + 2), np.nan)
    coefficients[:, -1] = 0.0
    coefficients[0, -1] = beyond
    stretches = np.arange((highest - lowest) << _LEVELS[0])
    for level, finer in zip(_LEVELS, (*_LEVELS[1:], _LEVELS[-1]), strict=True):
        if not 0 < stretches.size <= _MOST_STRETCHES:
            break
        failed = _fill(coefficients, function, allowed, lowest, bits, level, stretches)
        stretches = ((failed << (finer - level))[:, None] + np.arange(1 << (finer - level))).ravel()
    return OctaveTable(lowest, highest, bits, coefficients)


def _fill(
    coefficients: Floats,
    function: Callable[[Floats], Floats],
    allowed: Callable[[Floats], Floats],
    lowest: int,
    bits: int,
    level: int,
    stretches: Indices,
) -> Indices:
    """Fill the cells of one octave, halving them until the error is small."""
    octave, part = lowest + (stretches >> level), stretches & ((1 << level) - 1)
    half = np.ldexp(0.5, octave - level)[:, None]
    middle = np.ldexp(1.0 + (part + 0.5) / (1 << level), octave)[:, None]
    points = middle + half * np.concatenate([_CHEBYSHEV, _PROBES])
    with np.errstate(all="ignore"):
        values = function(points.ravel()).reshape(points.shape)
        known, wanted = values[:, :_NODES], values[:, _NODES:]
        count = 1 << (bits - level)
        centre = known[:, _NODES // 2 : _NODES // 2 + 1]  # what is left is small, and so is its rounding
        # no BLAS: so small a product is slower on threads
        local = np.einsum("pn,nk->pk", known - centre, _expansion(count)).reshape(-1, _DEGREE + 1, count)
        local[:, 0] += centre
        at = ((_PROBES + 1.0) * (0.5 * count)).astype(np.int64)
        z = (_PROBES + 1.0) * count - (2 * at + 1)
        found = local[:, _DEGREE, at]
        for j in range(_DEGREE - 1, -1, -1):
            found = found * z + local[:, j, at]
        good = np.all(np.abs(found - wanted) <= allowed(wanted), axis=1)
        local = local[good] * ((count / half[good]) ** np.arange(_DEGREE + 1))[:, :, None]
    columns = 1 + (stretches[good][:, None] << (bits - level)) + np.arange(count)
    coefficients[:, columns] = local.transpose(1, 0, 2)
    failed: Indices = stretches[~good]
    return failed


@functools.cache
def _expansion(count: int) -> Floats:
    """Return Chebyshev coefficients of the function on each cell.

    Shape (nodes, (degree + 1) · pieces): coefficients in z ∈ [−1, 1] across each piece, by
    interpolation at the piece's own Chebyshev points.
    """
    own = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    t = (2.0 * np.arange(count)[:, None] + 1.0 + own) / count - 1.0
    to_series = np.linalg.inv(np.polynomial.chebyshev.chebvander(_CHEBYSHEV, _NODES - 1))
    at_own = np.polynomial.chebyshev.chebvander(t.ravel(), _NODES - 1) @ to_series  # (pieces · own, nodes)
    to_powers = np.linalg.inv(np.vander(own, increasing=True))
    shaped = at_own.reshape(count, _DEGREE + 1, _NODES)
    return np.ascontiguousarray(np.einsum("do,pok->kdp", to_powers, shaped).reshape(_NODES, -1))
