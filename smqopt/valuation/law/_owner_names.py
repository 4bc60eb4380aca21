"""Names of owners that parameters come with, which go along with the law."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric import Names, align, cover, names_of


class _OfOwners(Protocol):
    @property
    def size(self) -> int | None: ...

    def take(self, index: Any, /) -> Any: ...


_L = TypeVar("_L", bound=_OfOwners)
NAMES = "_owner_names"
"""Where a law keeps the names that its parameters came with."""


def without_names(law: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Names]]:
    """Split parameters into values and, where there are any, their owners' names.

    Raises
    ------
    InputError
        If parameters name different owners, or some are arrays without names.
    """
    found = {name: names for name, value in given.items() if (names := names_of(value, _where(law, name))) is not None}
    if not found:
        return dict(given), {}
    order = next((names for names in found.values() if not isinstance(names, range)), next(iter(found.values())))
    values = {name: align(value, order, _where(law, name)) if name in found else value for name, value in given.items()}
    bare = [
        name for name, value in given.items() if np.ndim(value) and not (name in found and cover(found[name], order))
    ]
    if bare and not isinstance(order, range):
        raise InputError(_where(law, bare[0]), "must come with the owners' names like the others", remedy="name them")
    return values, {NAMES: order}


def keep_names(law: _L, values: Any, where: str) -> _L:
    """Return a law made from one value an owner, with the names that these came with."""
    names = names_of(values, where)
    if names is not None and law.size is not None:
        setattr(law, NAMES, names)
    return law


def match_owners(law: _L, owners: Callable[[Names], Sequence[object]]) -> _L:
    """Put the owners of a law in the order of a market's.

    Parameters
    ----------
    law
        A law of any kind; only one whose parameters came with names is changed.
    owners
        Tells what the market's owners are called in names that a law came with.

    Raises
    ------
    InputError
        If the names are not those of the owners, each once, or parts of the law have other orders.
    """
    where = "market: argument 'valuation'"
    orders = list(_orders(law))
    if not orders or law.size is None:
        return law
    names = orders[0]
    if any(other != names for other in orders):
        raise InputError(where, "must name its owners in one order", remedy="sort the parameters alike")
    own = owners(names)
    if isinstance(names, range) and not cover(names, own):
        return law
    if names == own or list(map(str, names)) == list(map(str, own)):
        return law
    place = dict(zip(map(str, names), range(len(names)), strict=True))
    order: NDArray[np.intp] = np.array(align(place, own, where), np.intp)
    matched: _L = law.take(order)
    return matched


def _orders(law: Any) -> Iterator[Names]:
    """Yield the names that a law, or a law within it, came with."""
    if NAMES in vars(law):
        yield vars(law)[NAMES]
    for value in vars(law).values():
        for part in value if isinstance(value, list | tuple) else (value,):
            if hasattr(part, "with_arguments"):
                yield from _orders(part)


def _where(law: str, name: str) -> str:
    return f"{law}: parameter {name!r}"
