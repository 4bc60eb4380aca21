"""A display of work whose amount is known beforehand, with the time that is left: on a terminal alone."""

from __future__ import annotations

import sys
import time

_WIDTH = 24


class WorkProgress:
    """Draws a bar on standard error as work is done; silent where that is not a terminal.

    Called with how much is done and how much there is.
    """

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._shown = self._stream.isatty()
        self._start = time.perf_counter()

    def __call__(self, done: float, total: float) -> None:
        """Draw anew."""
        if not self._shown:
            return
        elapsed = time.perf_counter() - self._start
        share = done / total if total > 0 else 1.0
        full = int(_WIDTH * share)
        end = "\n" if done >= total else ""
        left = remaining_time(done, total, elapsed)
        self._stream.write(f"\r\x1b[K[{'#' * full}{'-' * (_WIDTH - full)}] {share:4.0%} {left}{end}")
        self._stream.flush()


def remaining_time(done: float, total: float, elapsed: float) -> str:
    """Say how long the rest takes at the pace so far: nothing is promised before there is a pace.

    Examples
    --------
    >>> remaining_time(0, 10, 3), remaining_time(2, 10, 60), remaining_time(9, 10, 9), remaining_time(10, 10, 61)
    ('…', 'about 4 min left', 'about 1 s left', 'done in 61 s')
    """
    if done >= total:
        return f"done in {elapsed:.0f} s"
    if done <= 0:
        return "…"
    left = elapsed * (total - done) / done
    return f"about {left:.0f} s left" if left < 90 else f"about {left / 60:.0f} min left"
