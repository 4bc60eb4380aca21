"""Which owners a constraint speaks of.

Those of a label or several, of crossed columns, of a mask, or all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from smqopt.errors import InputError, nearest
from smqopt.market._market import Market
from smqopt.numeric import FrozenDict, Indices

Label: TypeAlias = str | int
Labels: TypeAlias = Label | Sequence[Label]
GroupColumn: TypeAlias = str | Mapping[str, Labels] | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]]
"""A column of groups; columns with labels, all of which an owner must carry; or a mask."""
_MOST_SHOWN = 100
"""Labels that an error text looks through."""


def check_group(column: Any, label: Any, where: str, *, needed: bool) -> tuple[Any, Any]:
    """Check how a group is named, and return it so that it does not change.

    Parameters
    ----------
    column, label
        As a record was given them.
    where
        The record, in words.
    needed
        Whether a group must be named; else None stands for all owners.

    Returns
    -------
    tuple
        The name, a `FrozenDict` of names and labels, a tuple of booleans, or None; and the label,
        a tuple of labels, or None.

    Raises
    ------
    InputError
        If a label is no text or whole number, is given twice, or is missing; or the mask holds
        anything but booleans.
    """
    if isinstance(column, str):
        return column, check_labels(label, f"{where}: argument 'label'")
    if label is not None:
        raise InputError(f"{where}: argument 'label'", "goes with one column", value=repr(label), remedy="name it")
    if column is None and not needed:
        return None, None
    if isinstance(column, Mapping) and column:
        crossed = {}
        for name, labels in column.items():
            if not isinstance(name, str):
                raise InputError(
                    f"{where}: argument 'column'", "must name columns", value=repr(name), remedy="quote it"
                )
            crossed[name] = check_labels(labels, f"{where}: column {name!r}")
        return FrozenDict(crossed), None
    if isinstance(column, (Sequence, np.ndarray)) and not isinstance(column, np.ma.MaskedArray):
        mask = tuple(column.tolist() if isinstance(column, np.ndarray) else column)
        if mask and all(isinstance(entry, (bool, np.bool_)) for entry in mask):
            return tuple(map(bool, mask)), None
    raise InputError(
        f"{where}: argument 'column'",
        "must name a column of groups, or columns with labels, or be a mask of booleans",
        value=type(column).__name__,
        remedy='write, say, "city", {"sex": "f", "age": "30–39"} or market.epsilon > 0.5, in the order of its owners',
    )


def check_labels(label: Any, where: str) -> Label | tuple[Label, ...]:
    """Check one label, or several, and return them as text or whole numbers.

    Raises
    ------
    InputError
        If there is none, one is no label, or one is given twice.
    """
    if isinstance(label, (list, tuple)) or (isinstance(label, np.ndarray) and label.ndim):
        several = tuple(_label(entry, where) for entry in label)
        if not several or len(set(map(str, several))) < len(several):
            rule = "must name each label once" if several else "must name a label"
            raise InputError(where, rule, value=list(several), remedy="correct the list")
        return several
    return _label(label, where)


def members(market: Market, column: Any, label: Any, where: str) -> Indices:
    """Find the rows of a market that a checked group holds.

    They increase; all where the group is None.

    Raises
    ------
    InputError
        If the market has no such column, nobody carries a label, nobody is in the group, or the
        mask has another length.
    """
    if column is None:
        return np.arange(market.n, dtype=np.intp)
    if isinstance(column, str):
        return carriers(market, column, label, where)
    if isinstance(column, Mapping):
        inside = np.ones(market.n, dtype=bool)
        for name, labels in column.items():
            carrying = np.zeros(market.n, dtype=bool)
            carrying[carriers(market, name, labels, where)] = True
            inside &= carrying
    else:
        inside = np.array(column, dtype=bool)
        if inside.size != market.n:
            rule = f"must have one entry a row of the market, {market.n}"
            raise InputError(f"{where}: argument 'column'", rule, value=inside.size, remedy="make the mask anew")
    if not inside.any():
        raise InputError(
            f"{where}: argument 'column'", "must hold an owner", value=words(column, None), remedy="name another group"
        )
    return np.flatnonzero(inside)


def carriers(market: Market, column: str, label: Any, where: str) -> Indices:
    """Find the rows of a market that carry a label of a column, or one of several.

    Raises
    ------
    InputError
        If the market has no such column, or nobody carries a label.
    """
    rows = market.rows_of_group(column)
    wanted: Iterable[Label] = label if isinstance(label, tuple) else (label,)
    found = []
    for one in wanted:
        if str(one) not in rows:
            raise InputError(
                f"{where}: argument 'label'",
                f"must be a label of the group column {column!r}",
                value=one,
                remedy=nearest(str(one), list(rows)[:_MOST_SHOWN]),
            )
        found.append(rows[str(one)])
    return found[0] if len(found) == 1 else np.sort(np.concatenate(found))


def are_exclusive(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Say whether two checked groups hold nobody in common in any market.

    Each as (column, label); an owner carries one label of each column.
    """
    if isinstance(one[0], tuple) or isinstance(other[0], tuple):
        return type(one[0]) is type(other[0]) and not any(a and b for a, b in zip(one[0], other[0], strict=False))
    mine, others = ({column: label} if isinstance(column, str) else column for column, label in (one, other))
    return any(_texts(mine[name]).isdisjoint(_texts(others[name])) for name in mine if name in others)


def words(column: Any, label: Any) -> str:
    """Say which group it is, to stand behind 'of'."""
    if isinstance(column, str):
        return f"{column} = {_either(label)}"
    if isinstance(column, Mapping):
        return " and ".join(f"{name} = {_either(labels)}" for name, labels in column.items())
    return f"a mask of {sum(column)}"


def _texts(label: Any) -> set[str]:
    return {str(one) for one in (label if isinstance(label, tuple) else (label,))}


def _either(label: Any) -> str:
    return " or ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _label(label: Any, where: str) -> Label:
    if isinstance(label, str):
        return label
    if isinstance(label, bool) or not isinstance(label, (int, np.integer)):
        raise InputError(where, "must be text or a whole number", value=repr(label), remedy="name one group")
    return int(label)
