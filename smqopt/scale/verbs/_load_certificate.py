"""Certificates of markets in parts, read and verified anew."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smqopt.errors import CertificateError, InputError, check_kind
from smqopt.files import read_json
from smqopt.scale._solution import ParquetSolution
from smqopt.verification import digest

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale._certificate import ParquetCertificate
    from smqopt.scale.parts._cluster import Progress

_UNCHECKED = ("unchecked", "digest")


def load_certificate(
    path: str | os.PathLike[str], *, client: Client | None = None, progress: Progress | None = None
) -> ParquetCertificate:
    """Read a certificate, verify all parts anew, and compare the claims.

    Parameters
    ----------
    path
        `certificate.json`, in the folder of results, which also holds `solution.json`.
    client, progress
        As for `verify`.

    Raises
    ------
    InputError
        If a file cannot be read or lacks a key.
    CertificateError
        If the file claims anything that the parts do not say; names the part, or the key.

    Examples
    --------
    >>> load_certificate("nowhere/certificate.json")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    smqopt.errors.InputError: nowhere/certificate.json: cannot be read
    """
    check_kind(
        path, (str, os.PathLike), "load_certificate: argument 'path'", "a path", "give, say, 'out/certificate.json'"
    )
    from smqopt.scale._certificate import FORMAT  # noqa: PLC0415 -- loads pyarrow
    from smqopt.scale._verify import verify_parts  # noqa: PLC0415

    content = read_json(path)
    if content.get("format") != FORMAT:
        raise InputError(f"{path}: key 'format'", f"must be {FORMAT!r}", remedy="verify again")
    if content.get("digest") != digest(content):
        raise CertificateError(str(path), "was changed since it was written", remedy="verify again")
    tolerance = content.get("gap_tolerance")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise InputError(f"{path}: key 'gap_tolerance'", "must be a number", value=tolerance, remedy="verify again")
    solution = ParquetSolution.load(Path(path).absolute().parent)
    found = verify_parts(solution, client, tolerance, progress)
    _compare(content, found.to_dict(), str(path))
    return found


def _compare(said: Mapping[str, Any], found: Mapping[str, Any], where: str) -> None:
    """Refuse a file that says something else than was found."""
    try:
        lists = [{part["name"]: part for part in content["manifest"]["parts"]} for content in (said, found)]
        names = sorted({*lists[0], *lists[1]})
    except (KeyError, TypeError) as error:
        raise InputError(f"{where}: key 'manifest'", "must list parts by name", remedy="verify again") from error
    for name in names:
        if lists[0].get(name) != lists[1].get(name):
            raise CertificateError(f"{where}: part {name!r}", "is not what the manifest says", remedy="verify again")
    beside = said.get("unchecked")
    if not isinstance(beside, dict) or beside.keys() != found["unchecked"].keys():
        raise CertificateError(f"{where}: key 'unchecked'", "is not of a certificate", remedy="verify again")
    for key in {**found, **said}:
        if key not in _UNCHECKED and (key not in found or said.get(key) != found[key]):
            raise CertificateError(f"{where}: key {key!r}", "is not what the parts give", remedy="verify again")
