"""The `[owners]` table of a model file: who sells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from smqopt.errors import InputError, nearest_column
from smqopt.files import read_csv
from smqopt.market import numbers
from smqopt.model_files.schema._owners_tables import AnyOwners, OwnersInFile, OwnersInParquet, OwnersOfDataset
from smqopt.model_files.toml._place import TomlTable
from smqopt.numeric import Floats, double_of
from smqopt.valuation import Valuation, valuation_from_dict


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
    reports: Floats | None = field(repr=False)
    """Reported valuations, private: shape (n,), one a row for all its owners; or (N,), one an
    owner."""
    data: Floats | None = field(repr=False)
    """Entries, private: shape as for `reports`."""
    groups: Mapping[str, tuple[str, ...]]
    """Named labellings of the rows."""


@dataclass(frozen=True, eq=False)
class DatasetOwners:
    """Owners of a data set's entries, whose requirements are drawn."""

    dataset: str
    column: str
    """The column that the query asks about."""
    epsilon: Valuation
    """The law of the requirements."""


@dataclass(frozen=True, eq=False)
class PartsOwners:
    """Owners in the Parquet files of a folder, one part a file."""

    folder: Path
    epsilon: str
    """The column of requirements."""
    ids: str | None
    groups: tuple[str, ...]
    unique_ids: str
    reports: Path | None
    """The folder of reported valuations."""
    data: Path | None
    """The folder of entries."""


Owners = GivenOwners | DatasetOwners | PartsOwners


def read_owners(tables: AnyOwners, at: TomlTable) -> Owners:
    """Read the owners: arrays, or columns of a table beside the model, or a data set.

    Raises
    ------
    InputError
        If the table of owners, or the law of requirements, is bad.
    """
    if isinstance(tables, OwnersOfDataset):
        with at.table("epsilon").locate_errors():
            epsilon = valuation_from_dict(tables.epsilon, at.table("epsilon").header)
            if epsilon.size is not None:
                raise InputError(
                    "the law of requirements", "must be common to all owners", remedy="give scalar parameters"
                )
        return DatasetOwners(tables.dataset, tables.column, epsilon)
    if isinstance(tables, OwnersInParquet):
        return _in_parts(tables, at)
    if isinstance(tables, OwnersInFile):
        return _from_file(tables, at)
    return GivenOwners(
        f"arrays in {at.path.name}",
        np.array(tables.epsilon),
        None if tables.ids is None else tuple(tables.ids),
        _doubles(tables.multiplicity),
        _doubles(tables.reports),
        _doubles(tables.data),
        {name: tuple(labels) for name, labels in (tables.groups or {}).items()},
    )


def _in_parts(tables: OwnersInParquet, at: TomlTable) -> PartsOwners:
    def place(key: str, name: str | None) -> Path | None:
        if name is None:
            return None
        path = at.path.parent / name
        if not path.is_dir():
            raise InputError(at.where(key), "is not a folder", value=str(path), remedy="give a folder of Parquet files")
        return path

    folder = place("folder", tables.folder)
    assert folder is not None  # noqa: S101 -- it is named
    return PartsOwners(
        folder, tables.epsilon, tables.ids, tuple(tables.groups or ()), tables.unique_ids,
        place("reports", tables.reports), place("data", tables.data),
    )  # fmt: skip


def _doubles(rows: list[float] | None) -> Floats | None:
    return None if rows is None else np.array(rows)


def _from_file(tables: OwnersInFile, at: TomlTable) -> GivenOwners:
    path = at.path.parent / tables.table
    with at.locate_errors():
        columns = read_csv(path)

    def column(key: str, name: str) -> list[str]:
        if name not in columns:
            raise no_column(at, key, path, name, columns)
        return columns[name]

    def floats(key: str, name: str | None, *, private: bool = False) -> Floats | None:
        return None if name is None else numbers(column(key, name), f"{path}: column {name!r}", private=private)

    epsilon = floats("epsilon", tables.epsilon)
    assert epsilon is not None  # noqa: S101 -- its column has a name by default
    return GivenOwners(
        f"the table {path.name}",
        epsilon,
        None if tables.ids is None else tuple(column("ids", tables.ids)),
        floats("multiplicity", tables.multiplicity),
        floats("reports", tables.reports, private=True),
        None if tables.data is None else entries_of(column("data", tables.data)),
        {name: tuple(column("groups", name)) for name in tables.groups or ()},
    )


def entries_of(column: Sequence[str]) -> Floats:
    """Read a column of entries; a cell that is no number becomes NaN.

    A query refuses NaN in an entry that was bought.

    What stands in a row that was not bought must change nothing of a release, nor stop it.
    """
    entries = np.full(len(column), np.nan)
    for row, cell in enumerate(column):
        with contextlib.suppress(ValueError, OverflowError):
            entries[row] = double_of(cell)
    return entries


def no_column(at: TomlTable, key: str, path: Path, name: str, columns: Iterable[str]) -> InputError:
    """Name the model's line that asks for a column, and the table that lacks it."""
    return InputError(f"{at.where(key)}: {path}: column {name!r}", "is missing", remedy=nearest_column(name, columns))
