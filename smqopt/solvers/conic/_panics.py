"""A panic of a library in Rust, as an error.

Clarabel ends so where the numbers of a generalised power cone come too near its border.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from smqopt.errors import SolverError


@contextlib.contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise a `SolverError` for a panic.

    A panic is no `Exception`, and its class cannot be imported.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise SolverError("conic solver", "must not panic", value=str(error), remedy="scale the constraints") from None
