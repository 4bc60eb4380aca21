"""Polynomials through values at the zeros of a Chebyshev polynomial T_N."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats

NODES = 7
"""N."""
_ANGLES = (np.arange(NODES) + 0.5) * (np.pi / NODES)
PLACES = 0.5 + 0.5 * np.cos(_ANGLES)
"""Where the values are, from 0 to 1; shape (N,)."""
_TO_SERIES = np.cos(np.outer(np.arange(NODES), _ANGLES)) * (2.0 / NODES)
_TO_SERIES[0] *= 0.5


def tops_of_series(values: Floats) -> Floats:
    """Bound polynomials from values at `PLACES`, shape (N, k).

    The part up to x² by its top, and each further Chebyshev polynomial by 1.
    """
    series = _TO_SERIES @ values
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inner = -series[1] / (4.0 * series[2])
    x = np.where((series[2] < 0) & (np.abs(inner) < 1), inner, np.where(series[1] < 0, -1.0, 1.0))
    return np.asarray(series[0] + series[1] * x + series[2] * (2.0 * x * x - 1.0) + np.abs(series[3:]).sum(axis=0))
