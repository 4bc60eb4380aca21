"""The Residential Energy Consumption Survey 2009 of the United States.

Source: U.S. Energy Information Administration, RECS 2009 public-use microdata,
`recs2009_public.csv`. Works of the federal government are in the public domain in the United
States; EIA asks to be named as the source.
"""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.model_files import OriginalFile
from smqopt.paper.data_sets._profiles import Attribute, Categories, Numbers

HOUSEHOLDS = 12_083
COLUMNS = 940
ABOVE_10_000 = 5_770
"""Households that use more than 10,000 kWh a year."""
MEDIAN_KWH = 9_623

ORIGINAL = OriginalFile(
    name="recs2009_public.csv",
    data_set="RECS 2009",
    folders=("recs-2009",),
    size=28_917_457,
    sha256="15200a0e1ce51cf14216c1961dda1afe2747dc45ff5a22a3692afd032859652b",
    remedy=(
        "get recs2009_public.csv from the US Energy Information Administration, https://www.eia.gov/consumption/residential/data/2009/"
        " (public domain; name the source)"
    ),
)
ELECTRICITY = "KWH"
IDENTIFIER = "DOEID"
WORDS = frozenset(["METROMICRO", "UR", "IECC_Climate_Pub"])
"""The columns that hold words; all others hold numbers."""
MISSING = frozenset([-2.0, -8.0, -9.0])
"""EIA's codes for "not applicable", "refused" and "do not know"; a full stop too stands for no
value."""


@dataclass(frozen=True, eq=False)
class Households:
    """Households in the file's order."""

    kwh: NDArray[np.int64]
    """Electricity used at the site in 2009, in kWh, rounded to whole numbers; shape (12083,)."""
    attributes: tuple[Attribute, ...]
    """All columns but the electricity used and the identifier."""


def load_recs(path: str | os.PathLike[str] | None = None) -> Households:
    """Read RECS 2009, plain or compressed by gzip or xz.

    Parameters
    ----------
    path
        The file, or a folder that holds it, itself or in a folder `recs-2009`. By default the
        environment variable SMQOPT_DATA says.

    Raises
    ------
    DataMissingError
        If there is no such file; says how to get it.
    InputError
        If the file is not the original, byte for byte.
    """
    found = ORIGINAL.find(path)
    households = parse(ORIGINAL.content(found), str(found))
    kwh = households.kwh
    counted = (kwh.size, int((kwh > 10_000).sum()), int(np.median(kwh)), len(households.attributes) + 2)
    if counted != (HOUSEHOLDS, ABOVE_10_000, MEDIAN_KWH, COLUMNS):
        raise InputError(
            str(found),
            f"must hold {HOUSEHOLDS} households with a median of {MEDIAN_KWH} kWh, {ABOVE_10_000} of them above 10,000",
            value=counted,
            remedy=ORIGINAL.remedy,
        )
    return households


def parse(content: bytes, where: str) -> Households:
    """Parse the table.

    Raises
    ------
    InputError
        If a row has another length than the header, or a column of numbers holds something else.
    """
    reader = csv.reader(io.StringIO(content.decode("ascii")))
    header = next(reader, [])
    rows = [row for row in reader if row]
    if not rows or ELECTRICITY not in header or any(len(row) != len(header) for row in rows):
        raise InputError(
            where, f"must have a column {ELECTRICITY}, and rows as long as the header", remedy=ORIGINAL.remedy
        )
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    attributes: list[Attribute] = []
    for name, cells in columns.items():
        if name in WORDS:
            attributes.append(Categories(name, np.array(cells)))
        elif name not in (ELECTRICITY, IDENTIFIER):
            values = _numbers(cells, where, name)
            attributes.append(Numbers(name, np.where(np.isin(values, sorted(MISSING)), np.nan, values)))
    kwh = np.rint(_numbers(columns[ELECTRICITY], where, ELECTRICITY)).astype(np.int64)
    return Households(kwh, tuple(attributes))


def _numbers(cells: tuple[str, ...], where: str, name: str) -> NDArray[np.float64]:
    try:
        return np.array(["nan" if cell == "." else cell for cell in cells], dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{where}: column {name!r}", "must hold numbers", remedy=ORIGINAL.remedy) from error
