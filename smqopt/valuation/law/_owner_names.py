"""Names of owners that parameters come with, which go along with the law."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric import align, names_of


class _OfOwners(Protocol):
    @property
    def size(self) -> int | None: ...

    def take(self, index: Any, /) -> Any: ...


_L = TypeVar("_L", bound=_OfOwners)
NAMES = "_owner_names"
"""Where a law keeps the names that its parameters came with."""


def without_names(law: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """Split parameters into values and, where there are any, their owners' names.

    Numbers as names that differ between parameters count rows, and name nobody.

    Raises
    ------
    InputError
        If parameters name different owners, or some are arrays without names.
    """
    found = {name: names for name, value in given.items() if (names := names_of(value, _where(law, name))) is not None}
    if not found:
        return dict(given), {}
    order = next(iter(found.values()))
    if any(set(names) != set(order) for names in found.values()) and all(map(_counts_rows, found.values())):
        return {name: np.asarray(value) for name, value in given.items()}, {}
    values = {name: align(value, order, _where(law, name)) if name in found else value for name, value in given.items()}
    bare = [name for name, value in values.items() if name not in found and np.ndim(value)]
    if bare and not _counts_rows(order):
        raise InputError(_where(law, bare[0]), "must come with the owners' names like the others", remedy="name them")
    return values, {} if bare else {NAMES: tuple(order)}


def refuse_names(where: str, value: Any) -> None:
    """Refuse a parameter that says whose its values are, where nothing matches them."""
    names = names_of(value, where)
    if names is not None and not _counts_rows(names):
        raise InputError(where, "must come without names here", remedy="give an array in the order of the owners")


def keep_names(law: _L, values: Any, where: str) -> _L:
    """Return a law made from one value an owner, with the names that these came with."""
    names = names_of(values, where)
    if names is not None and law.size is not None:
        setattr(law, NAMES, tuple(names))
    return law


def match_owners(law: _L, ids: tuple[str, ...] | None) -> _L:
    """Put the owners of a law in the order of a market's.

    Parameters
    ----------
    law
        A law of any kind; only one whose parameters came with names is changed.
    ids
        The market's owners; None where they are numbered from 1.

    Raises
    ------
    InputError
        If the names are not those of the owners, each once, or parts of the law have other orders.
    """
    where = "market: argument 'valuation'"
    orders = set(_orders(law))
    if not orders or law.size is None:
        return law
    if len(orders) > 1:
        raise InputError(where, "must name its owners in one order", remedy="sort the parameters alike")
    (names,) = orders
    own = ids or tuple(str(i + 1) for i in range(len(names)))
    if names == own or (set(names) != set(own) and _counts_rows(names)):
        return law
    order: NDArray[np.intp] = np.array(align(dict(zip(names, range(len(names)), strict=True)), own, where), np.intp)
    matched: _L = law.take(order)
    return matched


def _orders(law: Any) -> Iterator[tuple[str, ...]]:
    """Yield the names that a law, or a law within it, came with."""
    if NAMES in vars(law):
        yield vars(law)[NAMES]
    for value in vars(law).values():
        for part in value if isinstance(value, list | tuple) else (value,):
            if hasattr(part, "with_arguments"):
                yield from _orders(part)


def _counts_rows(names: Any) -> bool:
    return all(name.isdecimal() for name in names)


def _where(law: str, name: str) -> str:
    return f"{law}: parameter {name!r}"
