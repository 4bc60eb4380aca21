"""Bounded work: algebra that takes too many calls is given up, its claim open.

Calls of Python functions are counted, not seconds, so that a verdict hangs neither on the speed of
a machine nor on its load.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import CO_GENERATOR
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

LONGEST_ATTEMPT = 3_000_000
"""Calls after which one reduction is given up: about two seconds. Sizes bound nearly all work
before; this is for the rest, as how long SymPy factors cannot be foreseen."""
LONGEST_DERIVATION = 20_000_000
"""Calls that all reductions of a derivation may take together; beyond, nothing more is reduced."""
LONGEST_EXPONENT = 2**20
"""Of a number with factors of different multiplicity; a double has up to 2⁵² as a denominator."""
_POWER = "_eval_power"
_INTERRUPTED = ("sympy", "smqopt")
"""Where work is given up: what is raised within a finaliser or a callback of others is lost."""


class _OutOfWork(BaseException):
    """Not an `Exception`, which SymPy may catch."""


@dataclass
class _Count:
    """How many calls may yet be made."""

    left: int
    is_running: bool = False


_COUNT: ContextVar[_Count | None] = ContextVar("count", default=None)


def _is_endless(self: object = None, expt: object = None, **_: object) -> bool:
    """Tell whether SymPy would write out a power of a number that fills the memory.

    12^(p/q) = 2^(2p/q) 3^(p/q) is written with 2^(2p mod q), whole.
    """
    base, p, q = (getattr(thing, name, None) for thing, name in ((self, "p"), (expt, "p"), (expt, "q")))
    if not isinstance(base, int) or not isinstance(p, int) or not isinstance(q, int):
        return False
    if max(abs(p), q) <= LONGEST_EXPONENT or abs(base) <= 1 or getattr(self, "q", 1) != 1:
        return False
    if q == 1:
        return True
    from sympy import factorint  # noqa: PLC0415 (loaded where there is algebra at all)

    return len(set(factorint(abs(base), limit=1 << 15).values())) > 1


@contextmanager
def work_budget(calls: int = LONGEST_DERIVATION) -> Iterator[None]:
    """Bound the calls that all reductions within take together."""
    before = _COUNT.set(_Count(calls))
    try:
        yield
    finally:
        _COUNT.reset(before)


def within_limit(work: Callable[[], T], otherwise: T) -> T:
    """Do some algebra, or give something else where it takes too many calls."""
    count = _COUNT.get() or _Count(LONGEST_ATTEMPT)
    if count.is_running:  # within other work that is bounded
        return work()
    start = left = min(LONGEST_ATTEMPT, count.left)
    if start <= 0:
        return otherwise

    def tick(frame: FrameType, _: str, __: object) -> None:
        nonlocal left
        left -= 1
        if frame.f_code.co_name == _POWER and _is_endless(**frame.f_locals):
            raise _OutOfWork
        ours = frame.f_globals.get("__name__", "").startswith(_INTERRUPTED)
        if left < 0 and ours and not frame.f_code.co_flags & CO_GENERATOR:  # one may be closing
            raise _OutOfWork

    token = None if _COUNT.get() is count else _COUNT.set(count)
    former, count.is_running = sys.gettrace(), True
    try:
        sys.settrace(tick)
        return work()
    except _OutOfWork:
        return otherwise
    finally:
        sys.settrace(former)
        count.is_running = False
        count.left -= start - left
        if token is not None:
            _COUNT.reset(token)
