"""The `[query]` table of a model file: what is asked of the bought entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from smqopt.errors import InputError
from smqopt.model_files._query_choice import QUERIES, make_query
from smqopt.model_files.toml._table import TomlTable
from smqopt.query import PopulationQuery


def read_query(table: TomlTable) -> PopulationQuery:
    """Read what is asked: `kind = "median"`, and what that kind needs.

    Raises
    ------
    InputError
        If a key is unknown, missing or bad.
    """
    kind = table.choice("kind", QUERIES)
    known = QUERIES[kind]
    table.refuse_unknown(("kind", *known.parameters))
    given = {
        name: _READ[how](table, name)
        for name, how in known.parameters.items()
        if name in known.required or name in table
    }
    with table.located():
        return make_query(kind, **given)


def _numbers(table: TomlTable, key: str) -> list[float]:
    found: list[float] = table.numbers(key).tolist()
    return found


def _rows(table: TomlTable, key: str) -> list[list[float]]:
    """Read an array of arrays of numbers; the query checks their shape."""
    rows = table.content.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(table.where(key), "must be an array of arrays of numbers", remedy="write [[0, 1], [1, 0]]")
    return rows


_READ: Mapping[str, Callable[[TomlTable, str], Any]] = {
    "whole": TomlTable.integer,
    "number": TomlTable.number,
    "numbers": _numbers,
    "rows": _rows,
    "text": TomlTable.text,
}
