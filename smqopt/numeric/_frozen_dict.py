"""A dictionary that does not change, and can be pickled, copied and taken apart."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A read-only dictionary; `types.MappingProxyType` cannot be pickled or copied.

    Examples
    --------
    >>> FrozenDict(a=1)["b"] = 2
    Traceback (most recent call last):
        ...
    TypeError: a FrozenDict does not change
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a FrozenDict does not change")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)
