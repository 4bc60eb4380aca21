"""Solvers print, even when told not to.

Standard output belongs to whoever called us.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator


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
