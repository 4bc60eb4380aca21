"""What a verb takes of a market in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smqopt.errors import InputError


def refuse_options(verb: str, options: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Return the options that are given and known.

    Raises
    ------
    InputError
        If another one is given.
    """
    given = {name: value for name, value in options.items() if value is not None and value not in ((), [])}
    for name in given:
        if name not in known:
            raise InputError(
                f"{verb}: argument {name!r}",
                "is not supported for a market in parts",
                remedy="leave it out, or read the owners into memory",
            )
    return given
