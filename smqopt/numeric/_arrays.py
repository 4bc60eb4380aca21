"""Arrays by the type of their entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
"""Positions of owners, rows or pieces."""
Mask = NDArray[np.bool_]
NumberList: TypeAlias = Sequence[float] | NDArray[Any]
"""What a record takes as a list of numbers, and keeps as a tuple."""
