"""The model library: named procurement instances, one TOML file each."""

from __future__ import annotations

import os
from pathlib import Path

from smqopt.errors import DataMissingError, InputError, nearest

_PACKAGE = Path(__file__).parents[1]


def model_files() -> list[Path]:
    """List the library's files by name: in the installed package, or a clone.

    Raises
    ------
    DataMissingError
        If there is no library.
    """
    for folder in (_PACKAGE / "models", _PACKAGE.parent / "models"):
        found = sorted(folder.glob("*.toml"))
        if found:
            return found
    raise DataMissingError("the model library", "is not with the package", remedy="install the package anew")


def model_path(given: str | os.PathLike[str]) -> Path:
    """Return the file of a model: a path, or a name of the library.

    Raises
    ------
    InputError
        If it is neither the path of a file nor a known name.
    """
    path = Path(given)
    if path.suffix or len(path.parts) != 1 or path.exists():
        return path
    files = {file.stem: file for file in model_files()}
    if path.name not in files:
        raise InputError(
            f"model {path.name!r}", "is neither a file nor a name of the library", remedy=nearest(path.name, files)
        )
    return files[path.name]
