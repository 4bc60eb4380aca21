"""A table of one private value an owner, matched by her id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest_column
from smqopt.files import read_csv
from smqopt.market import numbers


def read_by_owner(path: str, column: str, owners: Sequence[str], *, id_column: str = "owner") -> NDArray[np.float64]:
    """Read a column for the owners named, in their order.

    Parameters
    ----------
    path
        The CSV file.
    column
        The column of values; private, so never shown in an error.
    owners
        The names, distinct.
    id_column
        The column of names.

    Raises
    ------
    InputError
        If a column is missing, a name stands twice or is missing, or a value is not a finite
        number.
    """
    table = _table(path, id_column, column)
    rows: dict[str, int] = {}
    asked = set(owners)  # a row of anybody else changes nothing, whatever stands in it
    for row, name in enumerate(table[id_column]):
        if name in rows:
            raise InputError(
                f"{path}: column {id_column!r}, row {row + 1}", "repeats an owner", value=name, remedy="keep one row"
            )
        if name in asked:
            rows[name] = row
    missing = [name for name in owners if name not in rows]
    if missing:
        raise InputError(f"{path}: column {id_column!r}", f"has no row for owner {missing[0]!r}", remedy="add one")
    cells = [cell if name in asked else "0" for name, cell in zip(table[id_column], table[column], strict=True)]
    values = numbers(cells, f"{path}: column {column!r}", private=True)
    return values[[rows[name] for name in owners]]


def read_batch(path: str, column: str, *, id_column: str = "owner") -> tuple[list[str], NDArray[np.float64]]:
    """Read a column for the owners that the table names; empty cells are left out.

    Parameters
    ----------
    path, column, id_column
        As for `read_by_owner`.

    Returns
    -------
    tuple
        Names, in the order of the table, and values.

    Raises
    ------
    InputError
        If a column is missing, no cell is filled, or a value is not a finite number.
    """
    table = _table(path, id_column, column)
    filled = [row for row, text in enumerate(table[column]) if text.strip()]
    if not filled:
        raise InputError(f"{path}: column {column!r}", "is empty", remedy="give at least one value")
    # a gap is read as 0 and dropped again, so that an error names the row of the file
    values = numbers(
        [text if text.strip() else "0" for text in table[column]], f"{path}: column {column!r}", private=True
    )
    return [table[id_column][row] for row in filled], values[filled]


def _table(path: str, id_column: str, column: str) -> dict[str, list[str]]:
    table = read_csv(path)
    for name in (id_column, column):
        if name not in table:
            raise InputError(f"{path}: column {name!r}", "is missing", remedy=nearest_column(name, table))
    return table
