"""Ids that stand twice, found by hashes in buckets, then read where they stand."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.scale.parts._cluster import map_parts
from smqopt.scale.parts._row_groups import PartFile, names, numbers_of_ids

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale.parts._parquet_market import ParquetMarket

_ROWS = 1 << 22
"""Hashes that are sorted at a time."""
_READ = 64
"""So many hashes that stand twice are looked up."""

Hashes = NDArray[np.uint64]


def refuse_repeats(
    market: ParquetMarket, work: Path, rows: Mapping[str, int], client: Client, *, within_parts: bool
) -> None:
    """Refuse an id that stands twice in a part; or in the whole market.

    Raises
    ------
    InputError
        Naming the id and the two places.
    """
    if within_parts:
        tasks = [_Bucket(work, (name,), 0, 1) for name in rows]
    else:
        buckets = max(1, -(-sum(rows.values()) // _ROWS))
        tasks = [_Bucket(work, tuple(rows), k, buckets) for k in range(buckets)]
    suspects = map_parts(client, _repeats, tasks, np.concatenate, None)[:_READ]
    if suspects.size:
        _look_up(market, rows, suspects, within_parts=within_parts)


@dataclass(frozen=True)
class _Bucket:
    work: Path
    parts: tuple[str, ...]
    number: int
    of: int


def _repeats(bucket: _Bucket) -> Hashes:
    """Return the hashes of a bucket that stand twice."""
    width = (1 << 64) // bucket.of
    low, high = bucket.number * width, (bucket.number + 1) * width
    every = []
    for name in bucket.parts:
        with (bucket.work / "ids" / f"{name}.npy").open("rb") as file:  # not mapped: what is mapped counts as memory
            size = os.fstat(file.fileno()).st_size // 8
            start = _place(file, size, low)
            end = size if bucket.number + 1 == bucket.of else _place(file, size, high)
            file.seek(8 * start)
            every.append(np.frombuffer(file.read(8 * (end - start)), dtype=np.uint64))
    whole = np.sort(np.concatenate(every))
    return np.unique(whole[1:][whole[1:] == whole[:-1]])[:_READ]


def _place(file: BinaryIO, size: int, least: int) -> int:
    """Return how many of the sorted hashes of a file are below a number."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        file.seek(8 * middle)
        if int.from_bytes(file.read(8), sys.byteorder) < least:
            low = middle + 1
        else:
            high = middle
    return low


def _look_up(market: ParquetMarket, rows: Mapping[str, int], suspects: Hashes, *, within_parts: bool) -> None:
    """Read the ids behind hashes; different ids of one hash are no repeat."""
    column = market.owner_id
    assert column is not None  # noqa: S101
    seen: dict[object, str] = {}
    for name in rows:
        if within_parts:
            seen = {}
        for where, table in PartFile(market.folder / name, (column,)).groups():
            ids = names(table, column, where)
            for row in np.flatnonzero(np.isin(numbers_of_ids(ids), suspects)).tolist():
                owner = ids[row].as_py()
                if owner in seen:
                    raise InputError(
                        f"{where}, row {row + 1}: column {column!r}",
                        f"repeats the id of {seen[owner]}",
                        value=owner,
                        remedy="make ids distinct",
                    )
                seen[owner] = f"{where}, row {row + 1}"
