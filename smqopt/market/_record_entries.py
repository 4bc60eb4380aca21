"""Records read from data: their kind and their entries."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from smqopt.errors import InputError, nearest

_R = TypeVar("_R")


def read_entries(
    content: object, kinds: Mapping[str, type[_R]], where: str, example: str, unasked: tuple[str, ...] = ()
) -> tuple[type[_R], dict[str, Any]]:
    """Return the class of a record and its arguments, as they are.

    Parameters
    ----------
    content
        A table with a `kind`.
    kinds
        The classes that may be named, each a dataclass.
    where
        How errors begin.
    example
        A kind to propose.
    unasked
        Fields that no table has.

    Raises
    ------
    InputError
        If the kind or a key is unknown, or a key is missing.
    """
    if not isinstance(content, Mapping):
        remedy = f'give kind = "{example}", say'
        raise InputError(where, "must be a table", value=type(content).__name__, remedy=remedy)
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        remedy = nearest(str(kind), kinds)
        raise InputError(f"{where}: key 'kind'", "is missing or unknown", value=kind, remedy=remedy)
    entries = {one.name: one for one in dataclasses.fields(kinds[kind]) if one.name not in unasked}  # type: ignore[arg-type]
    given = {key: value for key, value in content.items() if key != "kind"}
    for key in given:
        if key not in entries:
            raise InputError(f"{where}: key {key!r}", f"is unknown to {kind!r}", remedy=nearest(key, entries))
    for key, entry in entries.items():
        if entry.default is dataclasses.MISSING and key not in given:
            raise InputError(f"{where}: key {key!r}", f"is missing; {kind!r} needs it", remedy=f"add {key} = …")
    return kinds[kind], given
