"""An irreducible infeasible subset: it fails, and no part of it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def irreducible(items: Sequence[Item], is_feasible: Callable[[Sequence[Item]], bool]) -> tuple[Item, ...]:
    """Drop items one by one; each stays out where the rest still cannot hold together.

    All of them cannot hold together; `is_feasible` says whether some of them, in their order, can.

    Examples
    --------
    >>> irreducible([1, 2, 3, 4], lambda kept: not {2, 4} <= set(kept))
    (2, 4)
    """
    kept = list(items)
    for item in items:
        without = [other for other in kept if other != item]
        if not is_feasible(without):
            kept = without
    return tuple(kept)
