"""Arrays by the type of their entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
"""Positions of owners, rows or pieces."""
Mask = NDArray[np.bool_]
