"""Bought entries on their way in: checked, and never shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import PRIVATE, InputError

__all__ = ["whole_entries"]


def whole_entries(data: ArrayLike, owner_ids: Sequence[str], low: int, high: int, rule: str) -> NDArray[np.int64]:
    """Check that every entry is a whole number in [low, high].

    Parameters
    ----------
    data
        Private entries, shape (k,).
    owner_ids
        The owners they were bought from, k names, in the same order.
    low, high
        The public range.
    rule
        What an entry must be, in words.

    Raises
    ------
    InputError
        Naming the owner of the first bad entry; the entry is withheld.
    """
    where = "argument 'data'"
    array = np.asarray(data)
    if array.shape != (len(owner_ids),):
        raise InputError(
            where,
            f"must hold the {len(owner_ids)} bought entries, shape ({len(owner_ids)},)",
            value=array.shape,
            remedy="give the entries of the selected owners, in their order",
        )
    if array.dtype.kind not in "biuf":
        raise InputError(where, "must hold numbers", value=str(array.dtype), remedy="convert the column to numbers")
    bad = np.flatnonzero(~((array >= low) & (array <= high) & (array == np.floor(array))))
    if bad.size:
        raise InputError(
            f"{where}, entry {bad[0] + 1} (owner {owner_ids[bad[0]]!r})", rule, value=PRIVATE, remedy="mend her entry"
        )
    return array.astype(np.int64)
