"""Bought entries on their way in: checked, and never shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import PRIVATE, InputError
from smqopt.numeric import NumberList, plain_array

_WHERE = "argument 'data'"


def whole_entries(
    data: ArrayLike, owner_ids: Sequence[str], low: int, high: int, rule: str, *, clamp: bool = False
) -> NDArray[np.int64]:
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
    clamp
        Whether an entry out of the range is taken for the nearest end of it.

    Raises
    ------
    InputError
        Naming the owner of the first bad entry; the entry is withheld.
    """
    array = _within(_numbers(data, owner_ids), low, high, clamp=clamp)
    _refuse_bad(~((array >= low) & (array <= high) & (array == np.floor(array))), owner_ids, rule)
    return array.astype(np.int64)


def bounded_entries(
    data: ArrayLike, owner_ids: Sequence[str], low: float, high: float, *, clamp: bool = False
) -> NDArray[np.float64]:
    """Check that every entry lies in [low, high].

    Parameters and errors as for `whole_entries`.
    """
    array = _within(_numbers(data, owner_ids).astype(np.float64), low, high, clamp=clamp)
    _refuse_bad(~((array >= low) & (array <= high)), owner_ids, f"must lie between {low:g} and {high:g}")
    return array


def listed_entries(data: ArrayLike, owner_ids: Sequence[str], alphabet: NumberList) -> NDArray[np.int64]:
    """Check that every entry is on a list; give its place there, shape (k,).

    Parameters and errors as for `whole_entries`.
    """
    array, known = _numbers(data, owner_ids), np.asarray(alphabet)
    order = np.argsort(known)
    place = order[np.minimum(np.searchsorted(known[order], array), known.size - 1)]
    _refuse_bad(known[place] != array, owner_ids, f"must be one of the {known.size} listed values")
    return place.astype(np.int64)


def _numbers(data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[Any]:
    array = plain_array(data, _WHERE, private=True)
    if array.shape != (len(owner_ids),):
        raise InputError(
            _WHERE,
            f"must hold the {len(owner_ids)} bought entries, shape ({len(owner_ids)},)",
            value=array.shape,
            remedy="give the entries of the selected owners, in their order",
        )
    if array.dtype.kind not in "biuf":
        raise InputError(_WHERE, "must hold numbers", value=str(array.dtype), remedy="convert the column to numbers")
    return array


def _within(array: NDArray[Any], low: float, high: float, *, clamp: bool) -> NDArray[Any]:
    """Return entries within the range, each by itself; NaN stays."""
    return np.clip(array, low, high) if clamp else array


def _refuse_bad(bad: NDArray[np.bool_], owner_ids: Sequence[str], rule: str) -> None:
    rows = np.flatnonzero(bad)
    if rows.size:
        raise InputError(
            f"{_WHERE}, entry {rows[0] + 1} (owner {owner_ids[rows[0]]!r})",
            rule,
            value=PRIVATE,
            remedy="correct her entry",
        )
