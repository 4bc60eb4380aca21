"""An original file of a data set that is not shipped."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from smqopt.errors import DataMissingError, InputError

VARIABLE = "SMQOPT_DATA"
"""The environment variable that says where data sets are: a folder that holds them, or the file
itself where one is asked for."""

_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ"


@dataclass(frozen=True)
class OriginalFile:
    """A file as its publisher gives it, plain or compressed by gzip or xz."""

    name: str
    """Its name, without a suffix of compression."""
    data_set: str
    """The data set it belongs to."""
    folders: tuple[str, ...]
    """Folders it may lie in, below the place that is given; that place itself is tried last."""
    size: int
    """Bytes of the plain file, at most; more is not unpacked."""
    sha256: str | None
    """SHA-256 of the plain file; None where the reader checks the content in another way."""
    remedy: str
    """How to get it, and under which terms, in a line."""

    @property
    def places(self) -> tuple[str, ...]:
        """Paths below the place that is given, in the order in which they are tried."""
        names = (f"{self.name}.gz", f"{self.name}.xz", self.name)
        return tuple(f"{folder}/{name}" for folder in self.folders for name in names) + names

    def find(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Find the file.

        Parameters
        ----------
        path
            The file, or a folder that holds it. By default the environment variable SMQOPT_DATA
            says.

        Raises
        ------
        DataMissingError
            If there is no such file; says how to get it.
        """
        place = given_place(path, self.data_set, self.remedy)
        if place.is_file():
            return place
        for name in self.places:
            if (place / name).is_file():
                return place / name
        raise DataMissingError(str(place), f"there is no {self.name} or {self.name}.gz here", remedy=self.remedy)

    def content(self, path: Path) -> bytes:
        """Read the file, unpack it, and check that it is the original.

        Raises
        ------
        InputError
            If it cannot be read or unpacked, or is not the original, byte for byte.
        """
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise InputError(str(path), "cannot be read", remedy=f"check the path: {error.strerror}") from error
        raw = self._unpack(raw, path)
        digest = hashlib.sha256(raw).hexdigest()
        if self.sha256 is not None and digest != self.sha256:
            raise InputError(
                str(path),
                f"is not the original {self.name}, whose SHA-256 is {self.sha256}",
                value=digest,
                remedy=self.remedy,
            )
        return raw

    def _unpack(self, raw: bytes, path: Path) -> bytes:
        if raw.startswith(_GZIP):
            try:
                with gzip.open(io.BytesIO(raw)) as stream:
                    return stream.read(self.size + 1)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise InputError(str(path), "is not a whole gzip file", remedy=self.remedy) from error
        if raw.startswith(_XZ):
            try:
                with lzma.open(io.BytesIO(raw)) as stream:
                    return stream.read(self.size + 1)
            except (EOFError, lzma.LZMAError) as error:
                raise InputError(str(path), "is not a whole xz file", remedy=self.remedy) from error
        return raw


def given_place(path: str | os.PathLike[str] | None, data_set: str, remedy: str) -> Path:
    """Return the path that was asked for, or the one that the environment names.

    Raises
    ------
    DataMissingError
        If neither says anything.
    """
    given = os.environ.get(VARIABLE) if path is None else os.fspath(path)
    if not given:
        raise DataMissingError(
            f"the data set {data_set}",
            f"is not shipped, and {VARIABLE} is not set",
            remedy=f"{remedy}, and give its path",
        )
    return Path(given)
