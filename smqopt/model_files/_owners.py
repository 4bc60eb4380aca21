"""The `[owners]` table of a model file: who sells, and how what is private of them is come by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from smqopt.errors import InputError, nearest
from smqopt.files import read_csv
from smqopt.market import numbers
from smqopt.model_files._schema import names_of
from smqopt.model_files.adult._adult import COLUMNS
from smqopt.model_files.toml._table import TomlTable
from smqopt.numeric import Floats
from smqopt.valuation import Valuation, valuation_from_dict

DATASETS = {"adult": COLUMNS}
"""Name of a data set → its columns."""


@dataclass(frozen=True, eq=False)
class GivenOwners:
    """Owners whose requirements stand in the model file or in a table beside it."""

    source: str
    """Where they stand."""
    epsilon: Floats
    """Privacy requirements, shape (n,)."""
    ids: tuple[str, ...] | None
    multiplicity: Floats | None
    """How many alike owners a row stands for, shape (n,)."""
    groups: Mapping[str, tuple[str, ...]]
    """Named labellings of the rows."""
    reports: Floats | None = field(repr=False)
    """Reported valuations, private: shape (n,), one a row for all its owners; or (N,), one an
    owner."""
    data: Floats | None = field(repr=False)
    """Entries, private: shape as for `reports`."""


@dataclass(frozen=True, eq=False)
class DatasetOwners:
    """Owners of a data set's entries, whose requirements are drawn."""

    dataset: str
    column: str
    """The column that the query asks about."""
    epsilon: Valuation
    """The law of the requirements."""


Owners = GivenOwners | DatasetOwners


def read_owners(table: TomlTable) -> Owners:
    """Read the `[owners]` table: `table = "file.csv"` with names of columns, or arrays, or `dataset = "adult"`.

    Raises
    ------
    InputError
        If a key is unknown, missing or bad, or the table of owners is.
    """
    if "table" in table and "dataset" in table:
        raise InputError(table.where("dataset"), "cannot stand beside 'table'", remedy="keep one of them")
    if "dataset" in table:
        return _from_dataset(table)
    if "table" in table:
        return _from_file(table)
    table.refuse_unknown(names_of("owners: arrays", "owners: table", "owners: dataset"))
    if "column" in table:
        raise InputError(table.where("column"), "belongs to a data set", remedy='give dataset = "adult", or drop it')
    return GivenOwners(
        source=f"arrays in {table.path.name}",
        epsilon=table.numbers("epsilon"),
        ids=table.names("ids") if "ids" in table else None,
        multiplicity=table.numbers("multiplicity") if "multiplicity" in table else None,
        groups=_groups(table),
        reports=table.numbers("reports", private=True) if "reports" in table else None,
        data=table.numbers("data", private=True) if "data" in table else None,
    )


def _from_dataset(table: TomlTable) -> DatasetOwners:
    table.refuse_unknown(names_of("owners: dataset"))
    dataset = table.choice("dataset", DATASETS)
    column = table.choice("column", DATASETS[dataset])
    law = table.table("epsilon")
    with law.located():
        epsilon = valuation_from_dict(law.content, law.header)
        if epsilon.size is not None:
            raise InputError("the law of requirements", "must be common to all owners", remedy="give scalar parameters")
    return DatasetOwners(dataset, column, epsilon)


def _from_file(table: TomlTable) -> GivenOwners:
    table.refuse_unknown(names_of("owners: table"))
    path = table.path.parent / Path(table.text("table"))
    with table.located():
        columns = read_csv(path)

    def column(key: str, default: str | None = None) -> list[str]:
        name = table.text(key, default)
        if name not in columns:
            raise _no_column(table, key, path, name, columns)
        return columns[name]

    def floats(key: str, *, private: bool = False) -> Floats | None:
        return numbers(column(key), f"{path}: column {table.text(key)!r}", private=private) if key in table else None

    return GivenOwners(
        source=f"the table {path.name}",
        epsilon=numbers(column("epsilon", "epsilon"), f"{path}: column {table.text('epsilon', 'epsilon')!r}"),
        ids=tuple(column("ids")) if "ids" in table else None,
        multiplicity=floats("multiplicity"),
        groups=_group_columns(table, path, columns),
        reports=floats("reports", private=True),
        data=floats("data", private=True),
    )


def _groups(table: TomlTable) -> Mapping[str, tuple[str, ...]]:
    """Read `groups = { city = ["Oslo", …] }`."""
    if "groups" not in table:
        return {}
    groups = table.table("groups")
    return {name: groups.names(name) for name in groups.content}


def _group_columns(table: TomlTable, path: Path, columns: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    """Read `groups = ["city"]`, names of columns."""
    groups = {}
    for name in table.names("groups") if "groups" in table else ():
        if name not in columns:
            raise _no_column(table, "groups", path, name, columns)
        groups[name] = tuple(columns[name])
    return groups


def _no_column(table: TomlTable, key: str, path: Path, name: str, columns: Iterable[str]) -> InputError:
    """Name the model's line that asks for a column, and the table that lacks it."""
    return InputError(f"{table.where(key)}: {path}: column {name!r}", "is missing", remedy=nearest(name, columns))
