"""What a verb takes of a market in parts."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

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
