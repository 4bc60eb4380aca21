"""Sums exact to the last bit, vectorised.

The high parts of all terms are extracted against one power of two, so that they add without error;
what is left over is extracted in turn (Rump, Ogita and Oishi 2008, *Accurate floating-point
summation part I: faithful rounding*, SIAM J. Sci. Comput. 31). The exact partial sums, a few a
block, are then rounded once by `math.fsum`.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.numeric._arrays import Floats

_UNIT = 2.0**-53
"""Half the spacing of doubles, relative."""

BLOCK = 1 << 15
"""Owners handled at a time: small enough for the cache, large enough to hide the cost of a call."""

_LARGEST = 2.0**900
"""Above this, the extraction and the splitting below could overflow."""
_SMALLEST = 2.0**-900
"""Below this, the error of a product could underflow."""
_SPLITTER = 2.0**27 + 1


def _extract(block: Floats) -> list[float]:
    """Return a short list of doubles whose exact sum is that of the block."""
    parts: list[float] = []
    rest = block
    spread = 2.0 ** math.ceil(math.log2(block.size) + 1)
    while True:
        largest = _largest(rest) if rest.size else 0.0
        if largest == 0.0:
            return parts
        if not largest < _LARGEST:
            return [*parts, *rest.tolist()]
        anchor = spread * 2.0 ** math.frexp(largest)[1]
        high = rest + anchor
        high -= anchor
        parts.append(float(np.add.reduce(high)))
        rest = np.subtract(rest, high, out=high)


def exact_sum(x: Floats) -> float:
    """Sum an array with one rounding, to nearest.

    Parameters
    ----------
    x
        Shape (n,).

    Returns
    -------
    float
        The exact sum, correctly rounded; NaN or an infinity where `x` holds one.

    Examples
    --------
    >>> exact_sum(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    values = np.ravel(np.asarray(x, dtype=np.float64))
    if not np.isfinite(values).all():
        return float(values.sum())
    parts: list[float] = []
    for start in range(0, values.size, BLOCK):
        parts += _extract(values[start : start + BLOCK])
    return _round(parts)


def sum_with_error(x: Floats) -> tuple[float, float]:
    """Sum an array fast, with a bound on what the sum misses.

    The high parts of a block add without error, as in `exact_sum`; for the low parts, whatever the
    order in which they are added, (m − 1)u Σ|low| bounds what is lost (Higham 2002, section 4.2).

    Parameters
    ----------
    x
        Shape (n,).

    Returns
    -------
    total, error
        |total − Σ x| ≤ error; error is +∞ where `x` holds NaN or infinities, or 2^900 or more.

    Examples
    --------
    >>> total, error = sum_with_error(np.full(10, 0.1))
    >>> abs(total - 1) <= error < 1e-15
    True
    """
    parts, missed = [0.0], 0.0
    for start in range(0, x.size, BLOCK):
        block = x[start : start + BLOCK]
        largest = max(float(np.max(block)), -float(np.min(block)))
        if not largest < _LARGEST:
            return math.nan, math.inf
        if largest == 0.0:
            continue
        anchor = 2.0 * BLOCK * 2.0 ** math.frexp(largest)[1]
        high = block + anchor
        high -= anchor
        parts.append(float(np.add.reduce(high)))
        np.subtract(block, high, out=high)
        parts.append(float(np.add.reduce(high)))
        missed += BLOCK * (BLOCK * (anchor * _UNIT)) * _UNIT
    total = math.fsum(parts)
    return total, 2.0 * missed + abs(total) * 2.0 * _UNIT


def exact_dot(x: Floats, y: Floats, *, up: bool = False) -> float:
    """Return Σ x_i y_i, rounded once.

    Parameters
    ----------
    x, y
        Shape (n,).
    up
        Round up instead of to nearest.

    Returns
    -------
    float
        The exact dot product, correctly rounded, provided no product lies outside the normal range
        by more than 2^±900; else products are rounded one by one.

    Examples
    --------
    >>> exact_dot(np.array([1e8 + 1, 1.0]), np.array([1e8 + 1, -1e16 - 2e8]))
    1.0
    """
    left = np.ravel(np.asarray(x, dtype=np.float64))
    right = np.broadcast_to(np.ravel(np.asarray(y, dtype=np.float64)), left.shape)
    parts: list[float] = []
    for start in range(0, left.size, BLOCK):
        a, b = left[start : start + BLOCK], right[start : start + BLOCK]
        product = a * b
        size = np.abs(product)
        if not np.isfinite(size).all():
            return float(np.dot(left, right))
        parts += _extract(product)
        if max(np.max(np.abs(a)), np.max(np.abs(b))) < _LARGEST and np.all((size > _SMALLEST) | (size == 0)):
            parts += _extract(_product_error(a, b, product))
    total = _round(parts)
    return math.nextafter(total, math.inf) if up and _round([*parts, -total]) > 0 else total


UNITS = 1 << 1074
"""The least positive double is one over this, and every double is a whole number of it."""
_TINY = 2.0**-1000
"""No less than what is lost where a product underflows."""
_SMALL_ERROR = UNITS >> 952
_LARGE_ERROR = UNITS << 971
"""No less than half a spacing of the products that are rounded, in units."""


def units_of_sum(x: Floats) -> int:
    """Return Σ x_i as a whole number of units of 2⁻¹⁰⁷⁴.

    It is exact, in whatever order it is added.

    Parameters
    ----------
    x
        Shape (n,), finite.

    Examples
    --------
    >>> units_of_sum(np.array([1e300, 0.5, -1e300])) * 2 == UNITS
    True
    """
    return _units([part for start in range(0, x.size, BLOCK) for part in _extract(x[start : start + BLOCK])])


def units_of_dot(x: Floats, y: Floats, *, toward: int = 0) -> int:
    """Return Σ x_i y_i in units of 2⁻¹⁰⁷⁴, the same in any order.

    A product is exact where its size and those of its factors lie within 2^±900, else it is rounded
    to a double; which of the two is said by the row alone.

    Parameters
    ----------
    x, y
        Shape (n,) each, finite, with finite products.
    toward
        1 for no less than the sum, −1 for no more.
    """
    exact, miss = _units_of_dot(x, y)
    return exact + toward * miss


def _units_of_dot(x: Floats, y: Floats) -> tuple[int, int]:
    """Return Σ x_i y_i in units, and what products that were rounded may miss."""
    parts: list[float] = []
    missed = 0
    for start in range(0, x.size, BLOCK):
        a, b = x[start : start + BLOCK], y[start : start + BLOCK]
        product = a * b
        parts += _extract(product)
        size = np.abs(product)
        top = max(_largest(a), _largest(b))
        if top < _LARGEST and float(np.min(size)) > _SMALLEST:
            parts += _extract(_product_error(a, b, product))
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            error = _product_error(a, b, product)
        small = (size <= _SMALLEST) & (a != 0) & (b != 0)
        large = (np.abs(a) >= _LARGEST) | (np.abs(b) >= _LARGEST)
        parts += _extract(np.where(small | large, 0.0, error))
        missed += int(np.sum(small)) * _SMALL_ERROR + int(np.sum(large)) * _LARGE_ERROR
    return _units(parts), missed


def _largest(x: Floats) -> float:
    return max(float(np.max(x)), -float(np.min(x)))


def units_around_dot(x: Floats, low: Floats, high: Floats) -> tuple[int, int]:
    """Return units between which Σ x_i y_i lies, the same in any order.

    Parameters
    ----------
    x
        Shape (n,), finite, ≥ 0.
    low, high
        y_i lies between these; shape (n,) each, 0 ≤ low ≤ high.

    Examples
    --------
    >>> low, high = units_around_dot(np.array([2.0]), np.array([0.25]), np.array([0.5]))
    >>> low * 2 == UNITS, 1 <= high / UNITS < 1 + 1e-12
    (True, True)
    """
    exact, miss = _units_of_dot(x, low)
    width = 0
    for start in range(0, x.size, BLOCK):
        block = slice(start, start + BLOCK)
        most = high[block] - low[block]
        most *= x[block]
        most *= 1.0 + 4.0 * _UNIT
        tiny = most < _TINY
        if tiny.any():  # a product may have vanished
            most[tiny & (high[block] > low[block]) & (x[block] > 0)] = _TINY
        width += units_of_sum(most)
    return exact - miss, exact + miss + width


def _units(parts: list[float]) -> int:
    total = 0
    for numerator, denominator in map(float.as_integer_ratio, parts):
        total += numerator * (UNITS // denominator)
    return total


def nearest_of_units(total: int) -> float:
    """Return the double nearest to so many units; an infinity where it overflows."""
    try:
        return total / UNITS
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def doubles_around(low: int, high: int) -> tuple[float, float]:
    """Return the nearest doubles below and above two numbers of units."""
    least, most = nearest_of_units(low), nearest_of_units(high)
    if least == math.inf or (least > -math.inf and _units([least]) > low):
        least = math.nextafter(least, -math.inf)
    if most == -math.inf or (most < math.inf and _units([most]) < high):
        most = math.nextafter(most, math.inf)
    return least, most


def _round(parts: list[float]) -> float:
    try:
        return math.fsum(parts)
    except OverflowError:
        return math.inf if sum(math.copysign(1.0, part) for part in parts) > 0 else -math.inf


def _product_error(a: Floats, b: Floats, product: Floats) -> Floats:
    """Return a b − fl(a b), exact (Veltkamp's splitting)."""
    a_scaled, b_scaled = _SPLITTER * a, _SPLITTER * b
    a_high, b_high = a_scaled - (a_scaled - a), b_scaled - (b_scaled - b)
    a_low, b_low = a - a_high, b - b_high
    error: Floats = product - a_high * b_high
    error -= a_low * b_high
    error -= a_high * b_low
    a_low *= b_low
    return np.subtract(a_low, error, out=error)
