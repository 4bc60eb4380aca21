"""`[owners]`: in arrays, files, folders, or drawn for a data set."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Tag,
)

from smqopt.model_files.schema._table import Law, Names, Numbers, Table, key_field, refusal

_MULTIPLICITY = "how many alike owners a row stands for, whole numbers ≥ 1"
_REPORTS = (
    "reported valuations, private: one a row, for all its owners, or in an array one an owner; "
    "drawn from the law where they are left out"
)
_DATA = "entries, private; as `reports`, but never drawn"
_COLUMN = "name of a column"


class OwnersInArrays(Table):
    """`[owners]` as arrays"""  # noqa: D400 -- a heading of the reference

    epsilon: Numbers = key_field("array of numbers ≥ 0", "privacy requirements ε, one a row", ...)
    ids: Names | None = key_field("array of names", "distinct names; 1, 2, … where they are left out")
    groups: dict[str, Names] | None = key_field(
        "table of arrays of names", 'labellings of the rows, as `groups = { city = ["Oslo", "Bergen"] }`'
    )
    multiplicity: Numbers | None = key_field("array of numbers", _MULTIPLICITY)
    reports: Numbers | None = key_field("array of numbers", _REPORTS)
    data: Numbers | None = key_field("array of numbers", _DATA)


class OwnersInFile(Table):
    """`[owners]` from a table"""  # noqa: D400

    table: str = key_field("text", "a CSV file with a header line; its path is relative to the model file", ...)
    epsilon: str = key_field(
        _COLUMN, "privacy requirements ε ≥ 0; the column `epsilon` where it is left out", "epsilon"
    )
    ids: str | None = key_field(_COLUMN, "distinct names; 1, 2, … where they are left out")
    groups: Names | None = key_field("array of names of columns", "labellings of the rows")
    multiplicity: str | None = key_field(_COLUMN, _MULTIPLICITY)
    reports: str | None = key_field(_COLUMN, _REPORTS)
    data: str | None = key_field(_COLUMN, _DATA)


class OwnersInParquet(Table):
    """`[owners]` in a folder of Parquet"""  # noqa: D400

    folder: str = key_field("text", "a folder of Parquet files, the parts; its path is relative to the model file", ...)
    epsilon: str = key_field(
        _COLUMN, "privacy requirements ε ≥ 0; the column `epsilon` where it is left out", "epsilon"
    )
    ids: str | None = key_field(_COLUMN, "distinct ids, text or whole numbers; none where it is left out")
    groups: Names | None = key_field("array of names of columns", "labellings that the certificate covers")
    unique_ids: Literal["everywhere", "within parts"] = key_field(
        '"everywhere" or "within parts"', "where an id that stands twice is looked for", "everywhere"
    )
    reports: str | None = key_field(
        "text", "a folder of files of the same names: ids, and the column `report`, private"
    )
    data: str | None = key_field("text", "a folder of files of the same names: ids, and the column `entry`, private")


class OwnersOfDataset(Table):
    """`[owners]` from a data set"""  # noqa: D400

    dataset: Literal["adult"] = key_field('"adult"', "a data set that the package knows", ...)
    column: Literal["age", "income_over_50k"] = key_field('"age" or "income_over_50k"', "the entry of each person", ...)
    epsilon: Law = key_field("a law", "what requirements are drawn from; this needs a seed", ...)


def _one_source(value: object) -> object:
    keys = value if isinstance(value, dict) else {}
    if "folder" in keys and ("table" in keys or "dataset" in keys):
        raise refusal("cannot stand beside a table or a data set", "keep one of them", "folder")
    if "table" in keys and "dataset" in keys:
        raise refusal("cannot stand beside 'table'", "keep one of them", "dataset")
    if "column" in keys and "table" not in keys and "dataset" not in keys:
        raise refusal("belongs to a data set", 'give dataset = "adult", or drop it', "column")
    return value


def _owners_kind(value: object) -> str:
    keys = value if isinstance(value, dict) else {}
    known = ("dataset", "table", "folder")
    return next((f"<{key}>" for key in known if key in keys), "<arrays>")


AnyOwners = Annotated[
    Annotated[OwnersInArrays, Tag("<arrays>")]
    | Annotated[OwnersInFile, Tag("<table>")]
    | Annotated[OwnersInParquet, Tag("<folder>")]
    | Annotated[OwnersOfDataset, Tag("<dataset>")],
    Discriminator(_owners_kind),
    BeforeValidator(_one_source),
]
