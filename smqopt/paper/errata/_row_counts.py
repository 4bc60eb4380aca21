"""E18: how many records the data sets hold."""

from __future__ import annotations

import lzma
import os
from pathlib import Path
from typing import NamedTuple

from smqopt.errors import DataMissingError
from smqopt.model_files import VARIABLE
from smqopt.paper.errata._entry import Claim, Entry, Finding

HOUSEHOLDS_FILE = Path("recs-2009", "recs2009_public.csv.xz")
FILMS_FILE = Path("movielens-1m", "movies.dat")


class Counts(NamedTuple):
    """Records in two data sets."""

    households: int
    """In RECS 2009."""
    films: int
    """In MovieLens 1M."""


def count_rows(folder: str | os.PathLike[str] | None = None) -> tuple[Counts, int]:
    """Count the records.

    Parameters
    ----------
    folder
        Holds `recs-2009/recs2009_public.csv.xz` and `movielens-1m/movies.dat`. By default the
        environment variable SMQOPT_DATA says.

    Returns
    -------
    tuple
        The counts, and the largest id of a film.

    Raises
    ------
    DataMissingError
        If the folder or a file is missing.
    """
    given = os.environ.get(VARIABLE) if folder is None else os.fspath(folder)
    remedy = "get RECS 2009 from the US Energy Information Administration and MovieLens 1M from GroupLens, and give their folder"
    if not given:
        raise DataMissingError(
            "RECS 2009 and MovieLens 1M", f"are not shipped, and {VARIABLE} is not set", remedy=remedy
        )
    households, films = Path(given) / HOUSEHOLDS_FILE, Path(given) / FILMS_FILE
    for path in (households, films):
        if not path.is_file():
            raise DataMissingError(str(path), "there is no such file", remedy=remedy)
    with lzma.open(households) as stream:
        records = sum(1 for line in stream if line.strip()) - 1  # the header
    ids = [int(line.split(b"::", 1)[0]) for line in films.read_bytes().splitlines() if line]
    return Counts(records, len(set(ids))), max(ids)


def _trial(claimed: Counts) -> Finding:
    found, largest = count_rows()
    told = f"{found.households:,} households; {found.films:,} films, the largest id {largest:,}"
    return Finding(claimed == found, told)


ROW_COUNTS = Entry(
    "E18",
    "Data",
    Claim("RECS 12,084 records; 3,952 films", Counts(12_084, 3_952)),
    Claim("12,083 records; 3,883 films (3,952 is the largest id)", Counts(12_083, 3_883)),
    _trial,
)
