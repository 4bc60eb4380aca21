"""Compiled solvers print, even when told not to, and panic.

Standard output belongs to whoever called us.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

from smqopt.errors import SolverError


@contextlib.contextmanager
def contain() -> Iterator[None]:
    """Send what a solver prints to standard error; raise its panic as an error.

    Clarabel panics where the numbers of a generalised power cone come too near its border. A panic
    is no `Exception`, and its class cannot be imported.
    """
    with chatter_to_stderr():
        try:
            yield
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            why = str(error)
            raise SolverError("conic solver", "must not panic", value=why, remedy="scale the constraints") from None


@contextlib.contextmanager
def chatter_to_stderr() -> Iterator[None]:
    """Send standard output, also of compiled libraries, to standard error.

    Where the process has no standard output or no standard error, only what Python prints is sent
    there.
    """
    with contextlib.redirect_stdout(sys.stderr):
        try:
            kept = os.dup(1)
        except OSError:  # no standard output: nothing to protect
            yield
            return
        try:
            _flush()
            os.dup2(2, 1)
            yield
        finally:
            _flush()
            os.dup2(kept, 1)
            os.close(kept)


def _flush() -> None:
    if sys.__stdout__ is not None:
        sys.__stdout__.flush()
    if os.name == "posix":  # C's buffers too: what stays in them would come out later
        ctypes.CDLL(None).fflush(None)
