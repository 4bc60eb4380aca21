"""Parquet files read one row group at a time, every column checked on the way."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from smqopt.errors import PRIVATE, InputError, nearest
from smqopt.numeric import Floats

MOST_ROWS = 1 << 22
"""No row group may hold more: what a worker holds at a time is a few columns of so many rows."""
_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Of SplitMix64 (Steele, Lea and Flood 2014)."""
_BASE = 0x9E3779B97F4A7C15
"""An odd number, whose powers weigh the bytes of a name."""


@dataclass(frozen=True)
class PartFile:
    """A file and what is read of it."""

    path: Path
    columns: tuple[str, ...]

    def groups(self) -> Iterator[tuple[str, pa.Table]]:
        """Yield the row groups in order, each with its place in words.

        Raises
        ------
        InputError
            If the file cannot be read, lacks a column, is empty, or a row group is too large.
        """
        name = str(self.path)
        try:
            with pq.ParquetFile(self.path) as file:
                self._check(file)
                for number in range(file.num_row_groups):
                    where = f"{name}, row group {number + 1}"
                    yield where, file.read_row_group(number, columns=list(self.columns), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise InputError(name, "is missing", remedy="put the part back, or begin anew") from error
            raise InputError(
                name, f"cannot be read: {' '.join(str(error).split())[:200]}", remedy="write the part anew"
            ) from error

    def _check(self, file: pq.ParquetFile) -> None:
        names = file.schema_arrow.names
        for column in self.columns:
            if names.count(column) != 1:
                missing = column not in names
                rule, remedy = ("is missing", nearest(column, names)) if missing else ("stands twice", "drop one")
                raise InputError(f"{self.path}: column {column!r}", rule, remedy=remedy)
        if file.metadata.num_rows == 0:
            raise InputError(str(self.path), "is empty", value="0 rows", remedy="drop the part, or fill it")
        for number in range(file.num_row_groups):
            rows = file.metadata.row_group(number).num_rows
            if rows > MOST_ROWS:
                raise InputError(
                    f"{self.path}, row group {number + 1}",
                    f"must hold at most {MOST_ROWS} rows",
                    value=rows,
                    remedy="write it with row_group_size=1_000_000, say",
                )


def numbers(table: pa.Table, column: str, where: str, *, flags: bool = False) -> NDArray[Any]:
    """Return a column of numbers without nulls, shape (n,); or of flags.

    Raises
    ------
    InputError
        Naming file, row group and row.
    """
    array = table.column(column)
    kind, place = array.type, f"{where}: column {column!r}"
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or (flags and pa.types.is_boolean(kind))):
        raise InputError(place, "must hold numbers", value=str(kind), remedy="convert the column to doubles")
    if array.null_count:
        row = int(pc.index(array.is_null(), True).as_py()) + 1
        raise InputError(f"{where}, row {row}: column {column!r}", "is null", remedy="fill or drop the row")
    found: NDArray[Any] = array.to_numpy()
    return found


def doubles(table: pa.Table, column: str, where: str, *, private: bool = False) -> Floats:
    """Return a column of finite numbers ≥ 0, shape (n,).

    Raises
    ------
    InputError
        Naming file, row group and row; the value is withheld where `private`.
    """
    values = np.ascontiguousarray(numbers(table, column, where), dtype=np.float64) + 0.0  # −0 becomes 0
    least, most = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if not (least >= 0 and most < np.inf):
        row = int(np.flatnonzero(~((values >= 0) & (values < np.inf)))[0])
        raise InputError(
            f"{where}, row {row + 1}: column {column!r}",
            "must be a finite number ≥ 0",
            value=PRIVATE if private else float(values[row]),
            remedy="correct or drop the row",
        )
    return values


def names(table: pa.Table, column: str, where: str) -> pa.Array:
    """Return a column of ids or labels: whole numbers, or text; without nulls."""
    array = table.column(column).combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # of no chunk, or of several that do not fit in one
        array = pa.concat_arrays(array.chunks)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if array.null_count:
        row = int(pc.index(array.is_null(), True).as_py()) + 1
        raise InputError(f"{where}, row {row}: column {column!r}", "is null", remedy="fill or drop the row")
    if pa.types.is_integer(kind):
        try:
            return array.cast(pa.int64())
        except pa.ArrowInvalid as error:
            rule = "must hold text, or whole numbers below 2^63"
            raise InputError(f"{where}: column {column!r}", rule, remedy="convert the column to text") from error
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_boolean(kind):
        return array.cast(pa.int64())
    raise InputError(
        f"{where}: column {column!r}", "must hold text or whole numbers", value=str(kind), remedy="convert the column"
    )


def labels(table: pa.Table, column: str, where: str) -> tuple[NDArray[np.int64], list[str]]:
    """Return the number of each row's label, and the labels as text."""
    encoded = names(table, column, where).dictionary_encode()
    return np.asarray(encoded.indices.to_numpy(), dtype=np.int64), [str(x) for x in encoded.dictionary.to_pylist()]


def _bytes_of(array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return where the bytes of each text begin, shape (n + 1,), and the bytes."""
    _, offsets, data = array.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64, count=len(array) + 1, offset=8 * array.offset)
    whole = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    return starts - starts[0], whole[starts[0] : starts[-1]]


def numbers_of_ids(array: pa.Array) -> NDArray[np.uint64]:
    """Hash ids to 64 bits, the same for the same id wherever it stands; shape (n,)."""
    with np.errstate(over="ignore"):
        if pa.types.is_integer(array.type):
            mixed = np.asarray(array.to_numpy(), dtype=np.int64).view(np.uint64).copy()
        else:
            starts, data = _bytes_of(array)
            length = np.diff(starts)
            place = np.arange(data.size, dtype=np.int64) - np.repeat(starts[:-1], length)
            powers = np.cumprod(np.full(int(length.max(initial=0)) + 1, _BASE, dtype=np.uint64), dtype=np.uint64)
            weighted = (data.astype(np.uint64) + np.uint64(1)) * powers[place]
            mixed = np.zeros(len(array), dtype=np.uint64)
            some = np.flatnonzero(length)
            if some.size:
                mixed[some] = np.add.reduceat(weighted, starts[:-1][some])
        mixed += np.uint64(_BASE)
        for shift, factor in ((30, _MIX[0]), (27, _MIX[1])):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= factor
        mixed ^= mixed >> np.uint64(31)
    return mixed


@dataclass
class ContentHash:
    """Hashes of columns in order, whatever row groups they come in."""

    hashes: dict[str, Any] = field(default_factory=dict)
    rows: int = 0

    def add(self, name: str, values: Floats | pa.Array) -> None:
        """Take in the next rows of a column."""
        hash_of = self.hashes.setdefault(name, hashlib.sha256())
        if isinstance(values, np.ndarray):
            hash_of.update(np.ascontiguousarray(values).data)
        elif pa.types.is_integer(values.type):
            hash_of.update(np.ascontiguousarray(values.to_numpy()).data)
        else:
            starts, data = _bytes_of(values)
            hash_of.update(np.diff(starts).data)
            self.hashes.setdefault(f"{name}, bytes", hashlib.sha256()).update(np.ascontiguousarray(data).data)

    def digest(self) -> str:
        """Return one hash of all columns, in hexadecimal digits."""
        whole = hashlib.sha256(struct.pack("<q", self.rows))
        for name, hash_of in sorted(self.hashes.items()):
            whole.update(struct.pack("<q", len(name.encode())) + name.encode() + hash_of.digest())
        return whole.hexdigest()
