"""The model library: named procurement instances, one TOML file each."""

from __future__ import annotations

from pathlib import Path

import smqopt
from smqopt.errors import DataMissingError

__all__ = ["model_files"]

_PACKAGE = Path(smqopt.__file__).parent


def model_files() -> list[Path]:
    """Give the library's files in the order of their names: within an installed package, or beside it in a clone.

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
