"""The Adult data set: each person's age, and whether her income exceeds 50,000 dollars a year.

Source: Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20. CC BY 4.0.

The package ships the counts by age and income alone (`tables/adult-age-income.csv`); `python -m smqopt.experiments.adult FILE`
computes them from the original file.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import DataMissingError, InputError
from smqopt.files import read_csv, write_csv

__all__ = [
    "ABOVE_50K",
    "COLUMNS",
    "COUNTS_FILE",
    "PERSONS",
    "AdultEntries",
    "embedded_adult",
    "load_adult",
    "write_counts",
]

PERSONS = 32_561
"""Records in `adult.data`."""
ABOVE_50K = 7_841
"""Records whose income is `>50K`."""
COLUMNS = ("age", "income_over_50k")
"""The columns a query may ask about."""
COUNTS_FILE = Path(__file__).parent / "tables" / "adult-age-income.csv"
"""The shipped table: columns age, income_over_50k, count; ascending."""
VARIABLE = "SMQOPT_DATA"
"""The environment variable that says where data sets are: `adult.data(.gz)` itself, or a folder that holds it."""

_SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
_SIZE = 3_974_305
_FIELDS = 15
_LABELS = {"<=50K": 0, ">50K": 1}
_GZIP = b"\x1f\x8b"
_PLACES = ("adult/adult.data.gz", "adult/adult.data", "adult.data.gz", "adult.data")
_REMEDY = "get adult.data from the UCI Machine Learning Repository, data set Adult, https://doi.org/10.24432/C5XW20"


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
        """Give a column by its name, shape (n,).

        Raises
        ------
        KeyError
            If the name is not among `COLUMNS`.
        """
        return {"age": self.age, "income_over_50k": self.income_over_50k}[name]


def embedded_adult() -> AdultEntries:
    """Rebuild the entries from the shipped counts, in the table's order: by age, then income up to 50,000 dollars first.

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
    return _checked(entries, str(COUNTS_FILE))


def load_adult(path: str | os.PathLike[str] | None = None) -> AdultEntries:
    """Read the original `adult.data`, plain or compressed by gzip, in the file's order.

    Parameters
    ----------
    path
        The file, or a folder that holds it (as `adult/adult.data.gz`, say). By default the environment variable SMQOPT_DATA says.

    Raises
    ------
    DataMissingError
        If there is no such file; says how to get it.
    InputError
        If the file is not the original, byte for byte.
    """
    found = _find(path)
    entries = _parsed(_content(found), found.name)
    return _checked(entries, str(found))


def write_counts(entries: AdultEntries, path: str | os.PathLike[str]) -> None:
    """Write the counts by age and income, ascending; pairs that do not occur have no row."""
    pairs, counts = np.unique(np.stack([entries.age, entries.income_over_50k]), axis=1, return_counts=True)
    write_csv(path, (*COLUMNS, "count"), zip(*pairs.tolist(), counts.tolist(), strict=True))


def _find(path: str | os.PathLike[str] | None) -> Path:
    given = os.environ.get(VARIABLE) if path is None else os.fspath(path)
    if not given:
        raise DataMissingError(
            "the Adult data set", f"is not shipped, and {VARIABLE} is not set", remedy=f"{_REMEDY}, and give its path"
        )
    place = Path(given)
    if place.is_file():
        return place
    for name in _PLACES:
        if (place / name).is_file():
            return place / name
    raise DataMissingError(str(place), "there is no adult.data or adult.data.gz here", remedy=_REMEDY)


def _content(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), "cannot be read", remedy=f"check the path: {error.strerror}") from error
    if raw.startswith(_GZIP):
        try:
            with gzip.open(io.BytesIO(raw)) as stream:
                raw = stream.read(_SIZE + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(str(path), "is not a whole gzip file", remedy=_REMEDY) from error
    digest = hashlib.sha256(raw).hexdigest()
    if digest != _SHA256:
        raise InputError(
            str(path), f"is not the original adult.data, whose SHA-256 is {_SHA256}", value=digest, remedy=_REMEDY
        )
    return raw


def _parsed(content: bytes, name: str) -> AdultEntries:
    rows = [line.split(", ") for line in content.decode("ascii").splitlines() if line]
    if any(len(row) != _FIELDS for row in rows):
        raise InputError(name, f"every row must have {_FIELDS} fields", remedy=_REMEDY)
    return AdultEntries(
        np.array([int(row[0]) for row in rows], dtype=np.int64),
        np.array([_LABELS[row[-1]] for row in rows], dtype=np.int64),
        f"the original file {name}",
    )


def _checked(entries: AdultEntries, where: str) -> AdultEntries:
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
