"""A folder of finished units, so that a run may stop and go on."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.files import read_json, write_bytes, write_json
from smqopt.paper.experiments._plan import Unit

Arrays = Mapping[str, NDArray[np.float64]]


class Store:
    """The trials of one plan, by unit.

    Parameters
    ----------
    folder
        Where they are, or are to be.
    """

    MANIFEST = "manifest.json"

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder) / "trials"

    def open(self, manifest: Mapping[str, Any]) -> None:
        """Begin, or go on with, a run.

        Raises
        ------
        InputError
            If the folder holds trials of another plan, or of other data.
        """
        path = self.folder / self.MANIFEST
        if not path.exists():
            write_json(path, manifest)
            return
        found = read_json(path)
        for key in manifest:
            if found.get(key) != manifest[key]:
                raise InputError(
                    str(path),
                    f"holds trials with another {key!r}",
                    value=found.get(key) if key in ("version", "seed") else None,
                    remedy="choose another folder, or remove this one",
                )

    def has(self, unit: Unit) -> bool:
        """Whether a unit is finished."""
        return self._path(unit).exists()

    def write(self, unit: Unit, arrays: Arrays) -> None:
        """Keep a unit's arrays."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        write_bytes(self._path(unit), buffer.getvalue())

    def read(self, unit: Unit) -> dict[str, NDArray[np.float64]]:
        """Return a unit's arrays.

        Raises
        ------
        InputError
            If the unit is not finished, or its file is damaged.
        """
        path = self._path(unit)
        if not path.exists():
            raise InputError(str(path), "there is no such file", remedy="finish the run first")
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                return {name: np.asarray(arrays[name], dtype=np.float64) for name in arrays.files}
        except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise InputError(str(path), "is damaged", remedy="remove the file and run again") from error

    def _path(self, unit: Unit) -> Path:
        return self.folder / f"{unit.name}.npz"
