"""Bounded work: algebra that takes too long is given up, and its claim stays open."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

LONGEST_ATTEMPT = 2.0
"""Seconds of processor time after which one reduction is given up. Sizes bound nearly all work
before; this is for the rest, as how long SymPy factors cannot be foreseen."""
LONGEST_DERIVATION = 20.0
"""Seconds that all reductions of a derivation may take together; beyond, nothing more is
reduced."""
_AGAIN = 0.1
"""Seconds after which giving up is tried again: what is raised within a finaliser or a callback of
the garbage collector is lost."""
_FEWEST = 1e-3


class _OutOfWork(BaseException):
    """Not an `Exception`, which SymPy may catch."""


class _Budget:
    left: float = LONGEST_DERIVATION


_BUDGET = _Budget()


@contextmanager
def work_budget(seconds: float = LONGEST_DERIVATION) -> Iterator[None]:
    """Bound the processor time that all reductions within take together."""
    before, _BUDGET.left = _BUDGET.left, seconds
    try:
        yield
    finally:
        _BUDGET.left = before


def within_limit(work: Callable[[], T], otherwise: T) -> T:
    """Do some algebra, or give something else where it takes too long.

    The limit needs a timer of the processor's time, which only the main thread of a POSIX system
    has; elsewhere the work is bounded by the sizes of expressions alone.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "ITIMER_VIRTUAL"):
        return work()
    if signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0:  # within other work that is bounded
        return work()
    limit = min(LONGEST_ATTEMPT, _BUDGET.left)
    if limit <= _FEWEST:
        return otherwise
    former = signal.signal(signal.SIGVTALRM, _give_up)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, limit, _AGAIN)
            result = work()
        finally:
            left = signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0]
        _BUDGET.left -= limit - left
    except _OutOfWork:
        _BUDGET.left -= limit
        return otherwise
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
    return result


def _give_up(_: int, __: FrameType | None) -> None:
    raise _OutOfWork
