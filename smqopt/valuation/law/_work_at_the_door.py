"""The limit of work of what makes a law."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from smqopt.errors import InputError
from smqopt.numeric import OutOfWorkError, work_limit

_P = ParamSpec("_P")
_T = TypeVar("_T")


def within_work(make: Callable[_P, _T]) -> Callable[_P, _T]:
    """Refuse what takes more work to check than a small market may."""

    @functools.wraps(make)
    def make_within(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            with work_limit(0) as allowance:
                return make(*args, **kwargs)
        except OutOfWorkError:
            name = make.__name__
            raise InputError(name, f"the law takes {allowance.words} to check", remedy="simplify it") from None

    return make_within
