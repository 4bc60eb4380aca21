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
        A mapping from name to value; a series with an index of names; a frame with a column `owner`
        and one other. Anything else has no names, is positional, and is returned as it is.
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
    pairs = _name_of(values, where)
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


def _name_of(values: Any, where: str) -> tuple[list[str], list[Any]] | None:
    """Return names and values, or None where values have no names."""
    if isinstance(values, Mapping):
        return [str(name) for name in values], list(values.values())
    if hasattr(values, "columns"):
        names = [str(name) for name in values.columns]
        owner = next((name for name in _OWNER if name in names), None)
        if owner is None or len(names) != 2:
            raise InputError(where, "must have a column 'owner' and one other", value=names, remedy="select two")
        (other,) = (name for name in names if name != owner)
        return [str(name) for name in values[owner]], list(values[other])
    if hasattr(values, "index") and hasattr(values, "to_numpy"):
        index = list(values.index)
        if index != list(range(len(index))):  # the index that a series has if it was given none
            return [str(name) for name in index], list(values.to_numpy())
    return None
