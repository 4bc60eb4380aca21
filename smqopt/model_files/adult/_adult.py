"""The Adult data set: each person's age, and whether she earns over $50,000.

Source: Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository.
doi:10.24432/C5XW20. CC BY 4.0.

The package ships the counts by age and income alone (`tables/adult-age-income.csv`); `python -m
smqopt.model_files.adult._adult FILE` computes them from the original file.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.files import read_csv, write_csv
from smqopt.model_files.adult._original_file import OriginalFile

PERSONS = 32_561
"""Records in `adult.data`."""
ABOVE_50K = 7_841
"""Records whose income is `>50K`."""
COLUMNS = ("age", "income_over_50k")
"""The columns a query may ask about."""
COUNTS_FILE = Path(__file__).parent / "tables" / "adult-age-income.csv"
"""The shipped table: columns age, income_over_50k, count; ascending."""
ORIGINAL = OriginalFile(
    name="adult.data",
    data_set="Adult",
    folders=("adult",),
    size=3_974_305,
    sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    remedy="get adult.data from the UCI Machine Learning Repository, data set Adult, https://doi.org/10.24432/C5XW20 (CC BY 4.0)",
)
"""The training part, as UCI publishes it."""
FIELDS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
"""The fields of a row, in order."""
_LABELS = {"<=50K": 0, ">50K": 1}


@dataclass(frozen=True, eq=False)
class AdultEntries:
    """One entry a person."""

    age: NDArray[np.int64]
    """Age in years, shape (n,)."""
    income_over_50k: NDArray[np.int64]
    """1 where the income exceeds 50,000 dollars a year, else 0; shape (n,)."""
    source: str
    """Where the entries come from, in words."""

    def column(self, name: str) -> NDArray[np.int64]:
        """Return a column by its name, shape (n,).

        Raises
        ------
        KeyError
            If the name is not among `COLUMNS`.
        """
        return {"age": self.age, "income_over_50k": self.income_over_50k}[name]


def embedded_adult() -> AdultEntries:
    """Rebuild the entries from the shipped counts, in the table's order.

    Raises
    ------
    InputError
        If the shipped table is damaged.

    Examples
    --------
    >>> entries = embedded_adult()
    >>> entries.age.size, int(entries.income_over_50k.sum()), int(np.median(entries.age))
    (32561, 7841, 37)
    """
    table = read_csv(COUNTS_FILE)
    age, income, count = (np.array(table[name], dtype=np.int64) for name in (*COLUMNS, "count"))
    entries = AdultEntries(
        np.repeat(age, count), np.repeat(income, count), "counts by age and income, shipped with the package"
    )
    return _checked_entries(entries, str(COUNTS_FILE))


def load_adult(path: str | os.PathLike[str] | None = None) -> AdultEntries:
    """Read the original `adult.data`, plain or compressed, in the file's order.

    Parameters
    ----------
    path
        The file, or a folder that holds it (as `adult/adult.data.gz`, say). By default the
        environment variable SMQOPT_DATA says.

    Raises
    ------
    DataMissingError
        If there is no such file; says how to get it.
    InputError
        If the file is not the original, byte for byte.
    """
    found = ORIGINAL.find(path)
    return _checked_entries(_parse(_rows(ORIGINAL.content(found), found.name), found.name), str(found))


def adult_columns(path: str | os.PathLike[str] | None = None) -> tuple[AdultEntries, dict[str, tuple[str, ...]]]:
    """Read the original `adult.data`: the entries, and each field as text, by name.

    Parameters and errors are those of `load_adult`.

    Returns
    -------
    tuple
        The entries, and the text of every field, in the file's order.
    """
    found = ORIGINAL.find(path)
    rows = _rows(ORIGINAL.content(found), found.name)
    columns = dict(zip(FIELDS, zip(*rows, strict=True), strict=True))
    return _checked_entries(_parse(rows, found.name), str(found)), columns


def write_counts(entries: AdultEntries, path: str | os.PathLike[str]) -> None:
    """Write the counts by age and income, ascending, without empty rows."""
    pairs, counts = np.unique(np.stack([entries.age, entries.income_over_50k]), axis=1, return_counts=True)
    write_csv(path, (*COLUMNS, "count"), zip(*pairs.tolist(), counts.tolist(), strict=True))


def _rows(content: bytes, name: str) -> list[list[str]]:
    rows = [line.split(", ") for line in content.decode("ascii").splitlines() if line]
    if any(len(row) != len(FIELDS) for row in rows):
        raise InputError(name, f"every row must have {len(FIELDS)} fields", remedy=ORIGINAL.remedy)
    return rows


def _parse(rows: list[list[str]], name: str) -> AdultEntries:
    return AdultEntries(
        np.array([int(row[0]) for row in rows], dtype=np.int64),
        np.array([_LABELS[row[-1]] for row in rows], dtype=np.int64),
        f"the original file {name}",
    )


def _checked_entries(entries: AdultEntries, where: str) -> AdultEntries:
    found = (int(entries.age.size), int(entries.income_over_50k.sum()))
    if found != (PERSONS, ABOVE_50K):
        raise InputError(
            where,
            f"must hold {PERSONS} persons, {ABOVE_50K} of them above 50,000 dollars",
            value=found,
            remedy="restore it",
        )
    return entries


if __name__ == "__main__":
    write_counts(load_adult(sys.argv[1] if len(sys.argv) > 1 else None), COUNTS_FILE)
