"""Bounded work: algebra that takes too many calls is given up, its claim open.

Calls of Python functions are counted, not seconds, so that a verdict hangs neither on the speed of
a machine nor on its load.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from smqopt.numeric import OutOfWorkError, work_part

P = ParamSpec("P")
T = TypeVar("T")

LONGEST_ATTEMPT = 3_000_000
"""Calls after which one reduction is given up: about two seconds. Sizes bound nearly all work
before; this is for the rest, as how long SymPy factors cannot be foreseen."""
LONGEST_DERIVATION = 8_000_000
"""Calls that all reductions of a derivation may take together, in all its forms.

Beyond, nothing more is reduced."""
LONGEST_SIGN = 1_500_000
"""Evaluations, as `smqopt.numeric` counts them, after which balls leave one sign open: five times
what the longest sign took that was ever shown."""
LONGEST_SIGNS = 10 * LONGEST_SIGN
"""And that all signs of a derivation may take together."""
LONGEST_EXPONENT = 2**20
"""Of a number with factors of different multiplicity; a double has up to 2⁵² as a denominator."""
MOST_ROOTS = 64
"""Degree of a sum of roots beyond which SymPy does not look for its polynomial."""
_POWER, _POLYNOMIAL = "_eval_power", "minimal_polynomial"
_LOOKED_AT = frozenset({_POWER, _POLYNOMIAL})
_INTERRUPTED = ("sympy", "smqopt")
"""Where work is given up: what is raised within a finaliser or a callback of others is lost."""


class _OutOfWork(BaseException):
    """Not an `Exception`, which SymPy may catch."""


@dataclass
class _Count:
    """How many calls may yet be made."""

    left: int
    in_balls: int = LONGEST_SIGNS
    """How many evaluations signs may yet take."""
    is_running: bool = False
    is_short: bool = False
    """Whether something was given up for want of work."""
    answers: dict[object, object] = field(default_factory=dict)
    """What was answered since, so that no question is asked twice."""


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


def degree_of_roots(number: Any) -> int:
    """Multiply the degrees of the different roots in a number."""
    from sympy import Pow  # noqa: PLC0415

    return math.prod({power: power.exp.q for power in number.atoms(Pow) if power.exp.is_Rational}.values())


def ran_short() -> bool:
    """Tell whether the work at hand gave something up since its budget was spent."""
    count = _COUNT.get()
    return count is not None and count.is_short


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_INTERRUPTED)


def _look(frame: FrameType, *, spent: bool) -> None:
    """Stop work at a call that would not end, or where no calls are left."""
    code = frame.f_code
    if code.co_name == _POWER and _is_endless(**frame.f_locals):
        raise _OutOfWork
    if code.co_name == _POLYNOMIAL and degree_of_roots(frame.f_locals["ex"]) > MOST_ROOTS:
        raise _OutOfWork
    if spent and not code.co_flags & CO_GENERATOR and _is_ours(frame):  # a generator may be closing
        raise _OutOfWork


class _UnkeptError(Exception):
    """Carries a result past the cache that is not to keep it."""

    def __init__(self, value: object) -> None:
        self.value = value


def remember(function: Callable[P, T]) -> Callable[P, T]:
    """Keep the last results.

    Those that are what they are as a budget was spent are kept as long as that budget.
    """

    @functools.lru_cache(maxsize=2048)
    def cache(*arguments: P.args, **more: P.kwargs) -> T:
        value = function(*arguments, **more)
        if ran_short():
            raise _UnkeptError(value)
        return value

    @functools.wraps(function)
    def call(*arguments: P.args, **more: P.kwargs) -> T:
        question, count = (function, arguments, *more.items()), _COUNT.get()
        if count is not None and question in count.answers:
            return count.answers[question]  # type: ignore[return-value]
        try:
            return cache(*arguments, **more)  # type: ignore[arg-type]
        except _UnkeptError as unkept:
            if count is not None:
                count.answers[question] = unkept.value
            return unkept.value  # type: ignore[return-value]

    call.cache_clear = cache.cache_clear  # type: ignore[attr-defined]
    return call


@contextmanager
def work_budget(calls: int = LONGEST_DERIVATION, rows: int = 1) -> Iterator[None]:
    """Bound the calls that all reductions within take together, and signs likewise.

    Signs are sought for so many different laws.
    """
    before = _COUNT.set(_Count(calls, rows * calls * LONGEST_SIGNS // LONGEST_DERIVATION))
    try:
        yield
    finally:
        _COUNT.reset(before)


@contextmanager
def work_share(parts: int) -> Iterator[None]:
    """Bound the calls within to a part of what is left of the budget."""
    whole = _COUNT.get()
    if whole is None:
        yield
        return
    given, in_balls = whole.left // parts, whole.in_balls // parts
    share = _Count(given, in_balls)
    before = _COUNT.set(share)
    try:
        yield
    finally:
        _COUNT.reset(before)
        whole.left -= given - share.left
        whole.in_balls -= in_balls - share.in_balls


def within_limit(work: Callable[[], T], otherwise: T, most: int = LONGEST_ATTEMPT) -> T:
    """Do some algebra, or give something else where it takes too many calls."""
    count = _COUNT.get() or _Count(most)
    if count.is_running:  # within other work that is bounded
        return work()
    start = left = min(most, count.left)
    if start <= 0:
        count.is_short = True
        return otherwise

    def tick(frame: FrameType, _: str, __: object) -> None:
        nonlocal left
        left -= 1
        if left < 0 or frame.f_code.co_name in _LOOKED_AT:
            _look(frame, spent=left < 0)

    token = None if _COUNT.get() is count else _COUNT.set(count)
    former, count.is_running = sys.gettrace(), True
    try:
        sys.settrace(tick)
        return work()
    except _OutOfWork:
        count.is_short |= start < most
        return otherwise
    except ZeroDivisionError:  # SymPy takes 1 − e⁻⁵⁹ for 0 where it evaluates signs in few digits
        return otherwise
    finally:
        sys.settrace(former)
        count.is_running = False
        count.left -= start - left
        if token is not None:
            _COUNT.reset(token)


def sign_within_limit(work: Callable[[], T], otherwise: T) -> T:
    """Seek a sign in balls, or give something else where it takes too much."""
    count = _COUNT.get()
    most = LONGEST_SIGN if count is None else min(LONGEST_SIGN, count.in_balls)
    with work_part(most) as part:
        try:
            return work()
        except OutOfWorkError:
            if part.evaluations < most:  # it was the work of a sign, or of a market, that holds this one
                raise
            if count is not None:
                count.is_short |= most < LONGEST_SIGN
            return otherwise
        finally:
            if count is not None:
                count.in_balls -= part.evaluations - part.left
