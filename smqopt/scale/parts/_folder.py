"""The folder of parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smqopt.errors import InputError


def parts_of_folder(folder: Path) -> list[str]:
    """List the Parquet files of a folder by name, sorted.

    Raises
    ------
    InputError
        If it is no folder, holds none, or anything else: an owner that is left out is not noticed.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "is not a folder", remedy="give a folder of Parquet files")
    seen = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    nested = next((path for path in seen if path.is_dir()), None)
    if nested is not None:
        raise InputError(str(nested), "is a folder", remedy="put all parts into one folder")
    odd = next((path for path in seen if path.suffix != ".parquet"), None)
    if odd is not None:
        raise InputError(
            str(odd), "is no part: its name does not end in .parquet",
            remedy="rename it, or put it elsewhere; names that begin with a dot or an underscore are left out",
        )  # fmt: skip
    found = [path.name for path in seen]
    if not found:
        raise InputError(str(folder), "holds no .parquet file", remedy="write the owners there")
    return found


def first_difference(found: Sequence[str], known: Sequence[str], folder: Path) -> InputError | None:
    """Say which part came or went; None where none did."""
    came, went = sorted(set(found) - set(known)), sorted(set(known) - set(found))
    if not came and not went:
        return None
    name, rule = (went[0], "is missing") if went else (came[0], "was added")
    return InputError(
        str(folder / name), f"{rule} since the first pass", remedy="put it back as it was, or begin anew elsewhere"
    )
