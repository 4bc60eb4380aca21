"""Checks of a query's public numbers: a range of entries, weights, a step."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.numeric import Floats, plain_array, refuse_names

_MAGNITUDES = (1e-100, 1e100)
"""Between these lie the largest weight and the width of the range, so that no product leaves the
doubles."""


def checked_range(query: str, low: float, high: float) -> tuple[float, float]:
    """Check a public range of entries: low < high, finite, no extreme width.

    Raises
    ------
    InputError
        Naming the query, if it is no range.
    """
    low, high = checked_number(query, "low", low), checked_number(query, "high", high)
    if not _MAGNITUDES[0] <= high - low <= _MAGNITUDES[1]:
        raise InputError(
            f"{query}: argument 'high'",
            f"must exceed low = {low!r}, by {_MAGNITUDES[0]:g} to {_MAGNITUDES[1]:g}",
            value=high,
            remedy="give the public range of the entries, in fitting units",
        )
    return low, high


def checked_weights(query: str, weights: ArrayLike) -> Floats:
    """Check public weights, finite and none extreme; return a frozen copy (k,).

    Raises
    ------
    InputError
        Naming the query and the row.
    """
    where = f"{query}: argument 'weights'"
    refuse_names(where, weights)
    array = plain_array(weights, where)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise InputError(where, "must be numbers, shape (k,), k ≥ 1", value=array.shape, remedy="give one an entry")
    found = array.astype(np.float64)
    found.flags.writeable = False
    largest = float(np.max(np.abs(found)))
    if not (largest == 0 or _MAGNITUDES[0] <= largest <= _MAGNITUDES[1]):
        bad = int(np.argmax(~np.isfinite(found) | (np.abs(found) == largest)))
        raise InputError(
            f"{where}, row {bad + 1}",
            f"must be finite, the largest 0 or from {_MAGNITUDES[0]:g} to {_MAGNITUDES[1]:g} in size",
            value=float(found[bad]),
            remedy="give public weights in fitting units",
        )
    return found


def checked_clamp(query: str, clamp: object) -> bool:
    """Check whether entries are to be clamped: True or False.

    Raises
    ------
    InputError
        Naming the query, if it is neither.
    """
    if not isinstance(clamp, bool):
        raise InputError(f"{query}: argument 'clamp'", "must be True or False", value=clamp, remedy="give True")
    return clamp


def clamp_parameter(clamp: bool) -> dict[str, bool]:
    """Return the parameter as answers show it: where it is on."""
    return {"clamp": True} if clamp else {}


def checked_number(query: str, name: str, value: float) -> float:
    """Check one finite number.

    Raises
    ------
    InputError
        Naming the query and the argument.
    """
    known = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not known or not abs(value) <= sys.float_info.max:
        raise InputError(f"{query}: argument {name!r}", "must be a finite number", value=value, remedy="give a number")
    return float(value)
