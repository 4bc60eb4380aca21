"""Values that come with the names of their owners are matched by name.

They are matched by position only where they name nobody: plain arrays, and series whose index
counts rows from 0, unless the owners themselves are so called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric._plain_array import is_missing

Names = list[str] | range
"""Names that values come with; a range where an index counts rows from 0."""
_OWNER = ("owner", "owner_id")
"""What the column of names may be called in a frame."""
_REMEDY = "name each owner once, or pass a plain array to go by position"


def align(
    values: Any, owner_ids: Sequence[object], where: str, *, known: Sequence[str] = (), absent: bool = False
) -> Any:
    """Put values in the order of owners, where they say whose they are.

    Parameters
    ----------
    values
        A mapping from name to value; a series with an index of names, or a frame of one such; a
        frame with a column `owner` and one other, of pandas, polars or pyarrow. Anything else has
        no names, is positional, and is returned as it is.
    owner_ids
        The owners, in their order, as text or as a range.
    where
        What the values are, for errors; no error shows one.
    known
        Further owners who may be named, and are left out.
    absent
        Whether owners who are not named get NaN.

    Raises
    ------
    InputError
        If an owner who is asked for is not named or has no value; if one is named twice, or not
        known.
    """
    pairs = _pairs(values, where)
    if pairs is None:
        return values
    names, found = pairs
    if names == owner_ids and isinstance(names, range):
        return found
    ids = list(map(str, owner_ids))
    if isinstance(names, range) and not _are_called(names, ids, known, absent=absent):
        return values
    place: dict[str, Any] = {}
    asked = set(ids)
    for name, value in zip(map(str, names), found, strict=True):
        if name in place:
            raise InputError(f"{where}, owner {name!r}", "is named twice", remedy=_REMEDY)
        if not absent and is_missing(value) and name in asked:
            raise InputError(f"{where}, owner {name!r}", "must not be masked or missing", remedy="fill it in")
        place[name] = value
    missing = [] if absent else [name for name in ids if name not in place]
    if missing:
        raise InputError(f"{where}, owner {missing[0]!r}", "is not named", remedy=_REMEDY)
    strangers = place.keys() - asked - set(known)
    if strangers:
        raise InputError(f"{where}, owner {min(strangers)!r}", "is not in the market", remedy="leave it out")
    return [place.get(name, np.nan) for name in ids]


def names_of(values: Any, where: str) -> Names | None:
    """Return the names that values come with, or None where they are positional."""
    pairs = _pairs(values, where)
    return None if pairs is None else pairs[0]


def cover(names: Sequence[object], owner_ids: Sequence[object]) -> bool:
    """Whether names are those of all owners."""
    if isinstance(names, range) and (isinstance(owner_ids, range) or "0" not in owner_ids):
        return names == owner_ids
    return len(names) == len(owner_ids) and set(map(str, names)) == set(map(str, owner_ids))


def refuse_names(where: str, values: Any) -> None:
    """Refuse values that say whose they are, where nothing matches them.

    Raises
    ------
    InputError
        If they come with names.
    """
    names = names_of(values, where)
    if names is not None and not isinstance(names, range):
        raise InputError(where, "must come without names here", remedy="pass a plain array, in order")


def align_pairs(where: str, *columns: Any) -> tuple[Any, ...]:
    """Put columns that come with names in the order of the first that does.

    Raises
    ------
    InputError
        If they name others, or a name stands twice.
    """
    order = next((names for one in columns if (names := names_of(one, where)) is not None), None)
    return columns if order is None else tuple(align(one, order, where) for one in columns)


def frame_columns(values: Any, where: str = "table") -> dict[str, Any] | None:
    """Return the columns of a frame of pandas, polars or pyarrow; None for else.

    Raises
    ------
    InputError
        If it has not been worked out yet.
    """
    if hasattr(values, "collect") and hasattr(type(values), "columns"):
        raise InputError(where, "must be in memory", value=type(values).__name__, remedy="collect it first")
    if hasattr(values, "column_names"):  # pyarrow, whose `columns` are the columns themselves
        return dict(zip(map(str, values.column_names), values.columns, strict=True))
    if hasattr(values, "columns"):
        return {str(name): values[name] for name in values.columns}
    return None


def _are_called(rows: range, owner_ids: Sequence[str], known: Sequence[str], *, absent: bool) -> bool:
    """Whether row numbers are the names of owners, and of all who are needed."""
    if "0" not in owner_ids and "0" not in known:
        return False
    names = set(map(str, rows))
    return names <= {*owner_ids, *known} and (absent or names >= set(owner_ids))


def _pairs(values: Any, where: str) -> tuple[Names, Iterable[Any]] | None:
    """Return names and values, or None where values have no names."""
    if isinstance(values, Mapping):
        return [str(name) for name in values], list(values.values())
    frame = frame_columns(values, where)
    if frame is not None:
        owner = next((name for name in _OWNER if name in frame), None)
        if owner is not None and len(frame) == 2:
            (other,) = (column for name, column in frame.items() if name != owner)
            return [str(name) for name in np.asarray(frame[owner]).tolist()], np.asarray(other)
        if owner is not None or len(frame) != 1:
            raise InputError(where, "must have a column 'owner' and one other", value=list(frame), remedy="select two")
        (values,) = frame.values()
        if not isinstance(_index(values), list):
            raise InputError(
                where, "must have a column 'owner' and one other", value=list(frame), remedy="add the owners' names"
            )
    index = _index(values)
    return None if index is None else (index, values.to_numpy())


def _index(values: Any) -> Names | None:
    """Return the index of a series as names; None where it has none."""
    index = getattr(values, "index", None)
    if index is None or callable(index) or not hasattr(values, "to_numpy"):
        return None
    rows = range(len(index))
    if (index.start, index.step) == (0, 1) if hasattr(index, "step") else list(index) == list(rows):
        return rows
    return [str(name) for name in index]
