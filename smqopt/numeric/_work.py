"""Work counted in evaluations, so that no answer hangs on how fast a machine is.

One evaluation of F, or of what is made of it, at one double counts 1 beside the call, which counts
hundreds, as does one in balls. That is about how long they take, in units of some 300 ns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FEW_OWNERS = 200_000_000
"""Work for a small market: a minute of a processor or so,"""
AN_OWNER = 2_000_000
"""and as much more for each owner."""
A_CALL = 250
"""What a call costs beside its evaluations, and so does a step in balls."""
A_TERM = 10
"""What a term of a series, or of a continued fraction, costs."""


class OutOfWorkError(Exception):
    """Says that an allowance is spent; whoever gave it says what that means."""


class Allowance:
    """How many evaluations are left."""

    def __init__(self, evaluations: int) -> None:
        self.evaluations, self.left = evaluations, evaluations

    @property
    def words(self) -> str:
        """What the limit was."""
        return f"more than {self.evaluations:.3g} units of work (evaluations of the laws, counted and not timed)"


_CURRENT: ContextVar[Allowance | None] = ContextVar("allowance", default=None)
_LONG: ContextVar[tuple[Callable[[int, int], None] | None, int]] = ContextVar("long work", default=(None, 1))


@contextmanager
def work_limit(owners: int) -> Iterator[Allowance]:
    """Allow a block as many evaluations as a market of some owners may take.

    An inner block has an allowance of its own: what is kept for later, such as the proof that a
    law is a cdf, is charged to nobody else, and whoever asks next finds it.
    """
    allowance = Allowance(FEW_OWNERS + AN_OWNER * owners)
    token = _CURRENT.set(allowance)
    try:
        yield allowance
    finally:
        _CURRENT.reset(token)


@contextmanager
def work_part(evaluations: int) -> Iterator[Allowance]:
    """Allow a block at most so many of the evaluations that are left."""
    whole = _CURRENT.get()
    part = Allowance(evaluations if whole is None else min(evaluations, whole.left))
    token = _CURRENT.set(part)
    try:
        yield part
    finally:
        _CURRENT.reset(token)
        if whole is not None:
            whole.left -= part.evaluations - part.left


def work_left() -> int:
    """Return how many evaluations the block may still take."""
    allowance = _CURRENT.get()
    return FEW_OWNERS if allowance is None else max(allowance.left, 0)


@contextmanager
def long_work(progress: Callable[[int, int], None] | None = None, processes: int = 1) -> Iterator[None]:
    """Let a block's long work tell how much of it is done, and take several processes.

    Parameters
    ----------
    progress
        Is told how much is done, and how much there is.
    processes
        How many may be started.
    """
    token = _LONG.set((progress, processes))
    try:
        yield
    finally:
        _LONG.reset(token)


def report_progress(done: int, total: int) -> None:
    """Tell whoever watches how much is done."""
    progress = _LONG.get()[0]
    if progress is not None:
        progress(done, total)


def process_limit() -> int:
    """Return how many processes long work may start."""
    return _LONG.get()[1]


def count_work(evaluations: int) -> None:
    """Count a call, and evaluations at doubles.

    Raises
    ------
    OutOfWorkError
        If the allowance of the block is spent.
    """
    allowance = _CURRENT.get()
    if allowance is not None:
        allowance.left -= A_CALL + evaluations
        if allowance.left < 0:
            raise OutOfWorkError
