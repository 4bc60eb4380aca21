"""A public range of whole numbers."""

from __future__ import annotations

import numpy as np

from smqopt.errors import InputError

LARGEST = 2**53
"""Whole numbers beyond this are not all doubles."""


def whole_range(query: str, low: int, high: int) -> tuple[int, int]:
    """Check a public range of entries: whole numbers of size at most 2^53, low ≤ high.

    Raises
    ------
    InputError
        Naming the query, if it is no range.
    """
    for key, value in (("low", low), ("high", high)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or abs(int(value)) > LARGEST:
            raise InputError(
                f"{query}: argument {key!r}",
                "must be a whole number of size at most 2^53",
                value=value,
                remedy="give the public range of the entries",
            )
    if low > high:
        raise InputError(
            f"{query}: argument 'low'",
            f"must be at most high = {int(high)}",
            value=int(low),
            remedy="give the public range of the entries",
        )
    return int(low), int(high)
