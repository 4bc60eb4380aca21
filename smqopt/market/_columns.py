"""The columns that a market is made of, checked.

Requirements, names, counts, labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats, Names, align, as_names, cover, frame_columns, names_of, plain_array

LARGEST = 2.0**1000
"""The largest ε and valuation, and their quotient, lie between 1/LARGEST and LARGEST."""


def rows_of(owner_ids: Any, epsilon: Any) -> Names | None:
    """Return what the index of columns calls rows, where it names no owners.

    Columns of one frame have one index, which goes by whole numbers or belongs to its ids too.
    """
    names = None if owner_ids is None else names_of(owner_ids, "market: argument 'owner_ids'")
    if names is None and (names := names_of(epsilon, "market: argument 'epsilon'")) is not None:
        return names if isinstance(names, range) or all(name.isdecimal() for name in names) else None
    return names


def owners_of(names: Names, ids: tuple[str, ...] | None, rows: Names | None) -> Sequence[object]:
    """Return what names call owners: their ids, or the rows that they stand in."""
    if ids is None or (rows is not None and not cover(names, ids) and cover(names, rows)):
        return range(1, len(names) + 1) if rows is None else rows
    return ids


def by_owner(values: Any, ids: tuple[str, ...] | None, rows: Names | None, where: str) -> Any:
    """Put values that come with names, of owners or rows, in the owners' order.

    Raises
    ------
    InputError
        If names are not those of the owners, each once.
    """
    names = names_of(values, where)
    if names is None:
        return values
    return align(values, owners_of(names, ids, rows), where)


def group_columns(groups: Any) -> Mapping[str, Any]:
    """Return the labellings by name, of a mapping or a frame.

    Raises
    ------
    InputError
        If they are neither.
    """
    found = {} if groups is None else groups if isinstance(groups, Mapping) else frame_columns(groups)
    if found is None:
        kind = type(groups).__name__
        remedy = 'give groups={"city": labels}'
        raise InputError("market: argument 'groups'", "must be a mapping or a frame", value=kind, remedy=remedy)
    return found


def requirements(epsilon: ArrayLike, ids: tuple[str, ...] | None) -> Floats:
    """Return ε, shape (n,), finite and ≥ 0, as a copy that cannot be written to.

    Raises
    ------
    InputError
        Naming the owner, by her id where there are ids.
    """
    where = "market: argument 'epsilon'"
    array = plain_array(epsilon, where)
    if array.ndim != 1 or array.size == 0:
        raise InputError(
            where, "must have shape (n,) with n ≥ 1", value=array.shape, remedy="give one requirement an owner"
        )
    if array.dtype.kind not in "iuf":
        raise InputError(where, "must hold numbers", value=str(array.dtype), remedy="convert the column to numbers")
    array = np.array(array, dtype=np.float64, order="C") + 0.0  # −0 becomes 0
    bad = np.flatnonzero(~((array >= 0) & (array < np.inf)))
    if bad.size:
        i = int(bad[0])
        name = f"owner {ids[i]!r} (row {i + 1})" if ids is not None and i < len(ids) else f"owner {i + 1}"
        raise InputError(
            f"market: epsilon of {name}",
            "must be a finite number ≥ 0",
            value=float(array[i]),
            remedy="correct or drop the owner",
        )
    array.flags.writeable = False
    return array


def check_units(most: float, high: float) -> None:
    """Require largest ε, largest valuation and their quotient to be normal doubles.

    They have room around them then, so that another unit, of ε or of currency, that is a power of
    two changes no digit of an answer.

    Raises
    ------
    InputError
        Saying what is too large or too small.
    """
    sizes = {"epsilon": most, "high end of supports": high}
    if most > 0 and high > 0:
        sizes["epsilon / high end of supports"] = math.exp2(
            max(min(math.log2(most) - math.log2(high), 1023.0), -1022.0)
        )
    for what, value in sizes.items():
        if value and not 1.0 / LARGEST <= value <= LARGEST:
            rule = f"the largest must be 0, or lie between {1.0 / LARGEST:.3g} and {LARGEST:.3g}"
            raise InputError(f"market: {what}", rule, value=value, remedy="state it in another unit")


def check_ids(ids: tuple[str, ...], n: int) -> None:
    """Require n distinct names.

    Raises
    ------
    InputError
        Naming the row.
    """
    where = "market: argument 'owner_ids'"
    if len(ids) != n:
        raise InputError(where, f"must hold {n} names", value=len(ids), remedy="give one name an owner")
    if len(set(ids)) < len(ids):
        seen: dict[str, int] = {}
        for row, name in enumerate(ids):
            if name in seen:
                raise InputError(
                    f"{where}, row {row + 1}",
                    f"repeats the name of row {seen[name] + 1}",
                    value=name,
                    remedy="make names distinct",
                )
            seen[name] = row


def counts(multiplicity: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return whole numbers ≥ 1, shape (n,), as a copy that cannot be written to.

    Raises
    ------
    InputError
        Naming the row.
    """
    where = "market: argument 'multiplicity'"
    array = plain_array(multiplicity, where)
    if array.shape != (n,):
        raise InputError(where, f"must have shape ({n},)", value=array.shape, remedy="give one count a row")
    if array.dtype.kind not in "iuf":
        raise InputError(
            where, "must hold whole numbers", value=str(array.dtype), remedy="convert the column to numbers"
        )
    bad = np.flatnonzero(~((array >= 1) & (array <= 2**53) & (array == np.floor(array))))
    if bad.size:
        raise InputError(
            f"{where}, row {bad[0] + 1}",
            "must be a whole number ≥ 1",
            value=array[bad[0]].item(),
            remedy="drop empty rows",
        )
    whole = array.astype(np.int64)
    whole.flags.writeable = False
    return whole


def labels_of_group(name: str, labels: Any, ids: tuple[str, ...] | None, rows: Names | None, n: int) -> NDArray[Any]:
    """Return the labels of one group column as a read-only copy, shape (n,).

    Raises
    ------
    InputError
        Naming the column.
    """
    as_names([name], "market: name of a group")
    labels = by_owner(labels, ids, rows, f"market: group {name!r}")
    kind = getattr(getattr(labels, "dtype", None), "kind", "O")
    if kind not in "iub" or isinstance(labels, np.ma.MaskedArray):
        as_names(labels, f"market: group {name!r}")
    array = np.array(labels)
    if array.shape != (n,):
        raise InputError(
            f"market: group {name!r}",
            f"must have shape ({n},)",
            value=array.shape,
            remedy="give one label an owner",
        )
    array.flags.writeable = False
    return array
