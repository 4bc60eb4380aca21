"""A display of the stages of a run: on a terminal alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_WIDTH = 24


class Progress:
    """Draws a bar on standard error as stages begin and end; silent where that is not a terminal.

    Parameters
    ----------
    stages
        How many stages there will be.
    """

    def __init__(self, stages: int) -> None:
        self._stages = stages
        self._done = 0
        self._stream = sys.stderr
        self._shown = self._stream.isatty()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show that a stage is running, and then how long it took."""
        self._draw(f"{name} …")
        start = time.perf_counter()
        try:
            yield
        except BaseException:
            self._draw(f"{name} stopped", end="\n")
            raise
        self._done += 1
        self._draw(f"{name} {time.perf_counter() - start:.2f} s", end="\n" if self._done == self._stages else "")

    def _draw(self, text: str, end: str = "") -> None:
        if not self._shown:
            return
        full = _WIDTH * self._done // self._stages
        self._stream.write(f"\r\x1b[K[{'#' * full}{'-' * (_WIDTH - full)}] {self._done}/{self._stages} {text}{end}")
        self._stream.flush()
