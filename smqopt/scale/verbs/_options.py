"""What a verb takes of a market in parts."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from smqopt.errors import InputError, check_kind


def refuse_options(verb: str, options: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Return the options that are given and known.

    Raises
    ------
    InputError
        If another one is given, or one is of a wrong kind.
    """
    given = {name: value for name, value in options.items() if value is not None and value not in ((), [])}
    for name, value in given.items():
        if name not in known:
            raise InputError(
                f"{verb}: argument {name!r}",
                "is not supported for a market in parts",
                remedy="leave it out, or read the owners into memory",
            )
        if name in _KINDS:
            kind, words = _KINDS[name]
            check_kind(value, kind, f"{verb}: argument {name!r}", words, "leave it out")
    return given


_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "column": (str, "the name of a column"),
    "gap_tolerance": ((int, float), "a number"),
    "progress": (Callable, "a function"),  # type: ignore[dict-item]  # an abstract class, as isinstance takes it
}
F = TypeVar("F", bound=Callable[..., Any])


def wrap_verb(in_memory: Callable[..., Any], of_parts: str) -> Callable[[F], F]:
    """Take over what a verb in memory says of itself, and say what it does of parts."""

    def wrap(function: F) -> F:
        functools.update_wrapper(function, in_memory)
        function.__module__ = "smqopt"  # whose door gives this one, so that it goes through a pickle
        head, heading, rest = inspect.cleandoc(in_memory.__doc__ or "").partition("\n\nParameters\n")
        function.__doc__ = f"{head}\n\n{of_parts}{heading}{rest}"
        return function

    return wrap
