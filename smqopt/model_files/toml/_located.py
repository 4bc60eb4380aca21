"""Errors of lower layers, told with the file and the key they come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from smqopt.errors import InputError


@contextmanager
def locate_errors(where: str) -> Iterator[None]:
    """Put `where` before what an `InputError` raised inside says, once.

    Examples
    --------
    >>> with locate_errors("model.toml: [valuation]"):
    ...     raise InputError("uniform: parameter 'high'", "must exceed low", value=1.0)
    Traceback (most recent call last):
        ...
    smqopt.errors.InputError: model.toml: [valuation]: uniform: parameter 'high': must exceed low
    (found 1.0)
    """
    try:
        yield
    except InputError as error:
        if error.where.startswith(where):
            raise
        raise type(error)(f"{where}: {error.where}", error.rule, value=error.value, remedy=error.remedy) from error
