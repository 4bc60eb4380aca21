"""Values that come with the names of their owners are matched by name.

They are never matched by position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from smqopt.errors import InputError

_OWNER = ("owner", "owner_id")
"""What the column of names may be called in a frame."""


def align(values: Any, owner_ids: Sequence[str], where: str, *, known: Iterable[str] = (), absent: bool = False) -> Any:
    """Put values in the order of owners, where they say whose they are.

    Parameters
    ----------
    values
        A mapping from name to value; a series with an index of names, or a frame of one such; a
        frame with a column `owner` and one other, of pandas, polars or pyarrow. Anything else has
        no names, is positional, and is returned as it is.
    owner_ids
        The owners, in their order.
    where
        What the values are, for errors; no error shows one.
    known
        Further owners who may be named, and are left out.
    absent
        Whether owners who are not named get NaN.

    Raises
    ------
    InputError
        If an owner is not named, is named twice, or is not known.
    """
    pairs = _pairs(values, where)
    if pairs is None:
        return values
    names, found = pairs
    place: dict[str, Any] = {}
    for name, value in zip(names, found, strict=True):
        if name in place:
            raise InputError(f"{where}, owner {name!r}", "is named twice", remedy="give each owner once")
        place[name] = value
    missing = [] if absent else [name for name in owner_ids if name not in place]
    if missing:
        raise InputError(f"{where}, owner {missing[0]!r}", "is not named", remedy="give each owner once")
    strangers = place.keys() - set(owner_ids) - set(known)
    if strangers:
        raise InputError(f"{where}, owner {min(strangers)!r}", "is not in the market", remedy="leave it out")
    return [place.get(name, np.nan) for name in owner_ids]


def names_of(values: Any, where: str) -> list[str] | None:
    """Return the names that values come with, or None where they are positional."""
    pairs = _pairs(values, where)
    return None if pairs is None else pairs[0]


def frame_columns(values: Any) -> dict[str, Any] | None:
    """Return the columns of a frame of pandas, polars or pyarrow; None for else."""
    if hasattr(values, "column_names"):  # pyarrow, whose `columns` are the columns themselves
        return dict(zip(map(str, values.column_names), values.columns, strict=True))
    if hasattr(values, "collect"):  # a frame that has not been worked out
        return None
    if hasattr(values, "columns"):
        return {str(name): values[name] for name in values.columns}
    return None


def _pairs(values: Any, where: str) -> tuple[list[str], list[Any]] | None:
    """Return names and values, or None where values have no names."""
    if isinstance(values, Mapping):
        return [str(name) for name in values], list(values.values())
    frame = frame_columns(values)
    if frame is not None:
        owner = next((name for name in _OWNER if name in frame), None)
        if owner is not None and len(frame) == 2:
            (other,) = (column for name, column in frame.items() if name != owner)
            return [str(name) for name in np.asarray(frame[owner]).tolist()], list(np.asarray(other))
        if owner is not None or len(frame) != 1:
            raise InputError(where, "must have a column 'owner' and one other", value=list(frame), remedy="select two")
        (values,) = frame.values()
        if not _has_names(values):
            raise InputError(
                where, "must have a column 'owner' and one other", value=list(frame), remedy="add the owners' names"
            )
    if _has_names(values):
        return [str(name) for name in values.index], list(values.to_numpy())
    return None


def _has_names(values: Any) -> bool:
    """Whether a series has another index than it gets where it is given none."""
    index = getattr(values, "index", None)
    if index is None or callable(index) or not hasattr(values, "to_numpy"):
        return False
    return list(index) != list(range(len(index)))
