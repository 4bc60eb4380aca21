"""What ties a certificate file together: hashes of columns and of all it says."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from smqopt.errors import CertificateError
from smqopt.files import read_csv
from smqopt.market import Solution, lottery_columns

INLINE = 100
"""Columns of up to so many rows stand in the certificate itself, beside their hashes."""


def columns_to_dict(solution: Solution) -> dict[str, Any]:
    """Hash ε, thresholds and acceptances (SHA-256 of little-endian doubles)."""
    columns = {
        "epsilon": solution.market.epsilon,
        "threshold": solution.thresholds,
        "acceptance": solution.acceptance,
    }
    content: dict[str, Any] = {}
    for name, column in columns.items():
        values = np.asarray(column)
        if values.dtype == np.float64 and np.isfinite(values).all():
            content[name] = {"sha256": hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()}
            if values.size <= INLINE:
                content[name]["values"] = values.tolist()
    return content


def digest(content: Mapping[str, Any]) -> str:
    """Hash all that a certificate file says but this hash."""
    rest = {key: value for key, value in content.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()).hexdigest()


def refuse_other_columns(content: Mapping[str, Any], solution: Solution, thresholds: str | os.PathLike[str]) -> None:
    """Refuse a certificate that was changed, or whose table was.

    Parameters
    ----------
    content
        The certificate file.
    solution
        What was read from it and from the table.
    thresholds
        The table.

    Raises
    ------
    CertificateError
        If a hash, the number of owners, or what a column follows from is not so.
    """
    remedy = "verify the solution again"
    if content.get("digest") != digest(content):
        raise CertificateError("certificate: key 'digest'", "is not that of the file: it was changed", remedy=remedy)
    if content["solution"].get("owners") != solution.market.n:
        raise CertificateError(
            "certificate: key 'owners'",
            f"the table has {solution.market.n} rows",
            value=content["solution"].get("owners"),
            remedy=remedy,
        )
    table = read_csv(thresholds)
    known = {"owner", "epsilon", "threshold", "acceptance", "spend", "offer"}
    known |= {"multiplicity"} if solution.market.multiplicity is not None else set()
    known |= {f"group:{name}" for name in solution.market.groups}
    known |= set(lottery_columns(solution.lottery))
    for name in sorted(known ^ set(table)):
        what = "is missing" if name in known else "belongs to no certificate"
        raise CertificateError(f"{thresholds}: column {name!r}", what, remedy=remedy)
    shown = {
        "spend": [repr(x) for x in solution.spend.tolist()],
        "offer": ["yes" if offered else "no" for offered in solution.offered.tolist()],
    }
    for name, column in shown.items():
        given = table[name]
        wrong = [row for row, (one, other) in enumerate(zip(given, column, strict=True), 1) if one != other]
        if wrong:
            raise CertificateError(
                f"{thresholds}: column {name!r}, row {wrong[0]}",
                f"must be {column[wrong[0] - 1]!r}, as threshold and acceptance say",
                value=given[wrong[0] - 1],
                remedy=remedy,
            )
