"""Part files: written beside, hashed on the way, then renamed; and notes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from smqopt.errors import InputError
from smqopt.files import hash_parts, read_json, unwritable, write_json

_CHUNK = 1 << 20
T = TypeVar("T")


class _HashedStream:
    """A file that is hashed as it is written."""

    def __init__(self, path: Path) -> None:
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb")
        self.hash = hashlib.sha256()
        self.closed = False
        self.given_up = False

    def write(self, content: Any) -> int:
        view = memoryview(content)
        if self.given_up:
            return view.nbytes
        self._file.write(view)
        self.hash.update(view)
        return view.nbytes

    def flush(self) -> None:
        if not self.given_up:
            self._file.flush()

    def give_up(self) -> None:
        """Close the file as it is; what is written after goes nowhere."""
        self.given_up, self.closed = True, True
        with contextlib.suppress(OSError):
            self._file.close()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()


def write_part(path: Path, tables: Iterable[pa.Table]) -> str:
    """Write tables as row groups of one file, and return its SHA-256.

    It is written whole or not at all.

    Raises
    ------
    InputError
        If the folder cannot be written to.
    SmqoptError
        If the disk is full, or fails.
    """
    beside = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = _HashedStream(beside)
    except OSError as error:
        raise unwritable(path, error) from error
    writer = None
    try:
        for table in tables:
            writer = writer or pq.ParquetWriter(
                pa.PythonFile(stream, mode="w"), table.schema, compression="none", use_dictionary=False,
                write_statistics=False,
            )  # fmt: skip
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
        if writer is not None:
            writer.close()
        stream.close()
        beside.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        stream.give_up()
        if writer is not None:
            writer.close()
        beside.unlink(missing_ok=True)
    return stream.hash.hexdigest()


def hash_of_file(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    InputError
        If it is missing.
    """
    whole = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                whole.update(chunk)
    except OSError as error:
        raise InputError(
            str(path), f"cannot be read: {error.strerror}", remedy="put the part back, or begin anew"
        ) from error
    return whole.hexdigest()


def write_note(path: Path, key: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    """Note what came of a task, with all that it hung on."""
    write_json(path, {"key": dict(key), "content": dict(content), "hash": _hash_of_note(key, content)})


def _hash_of_note(key: Any, content: Any) -> str:
    return hash_parts(b"smqopt note", json.dumps([key, content], sort_keys=True).encode())


def read_note(path: Path, key: Mapping[str, Any], make: Callable[[Mapping[str, Any]], T]) -> T | None:
    """Make what was noted under the same key; None where nothing whole was.

    A note that `make` cannot read is none: its part is done again.
    """
    if not path.is_file():
        return None
    try:
        found = read_json(path)
    except InputError:  # a note that cannot be read is none: its part is done again
        return None
    if found.get("key") != json.loads(json.dumps(key)):
        return None
    content = found.get("content")
    if not isinstance(content, dict) or found.get("hash") != _hash_of_note(key, content):
        return None
    try:
        return make(content)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        return None
