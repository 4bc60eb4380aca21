"""Ids that stand twice, found by hashes in buckets, then read where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
        sorted_hashes: Hashes = np.memmap(bucket.work / "ids" / f"{name}.npy", dtype=np.uint64, mode="r")
        start = int(np.searchsorted(sorted_hashes, np.uint64(low)))
        last = bucket.number + 1 == bucket.of
        end = sorted_hashes.size if last else int(np.searchsorted(sorted_hashes, np.uint64(high)))
        every.append(np.asarray(sorted_hashes[start:end]))
    whole = np.sort(np.concatenate(every))
    return np.unique(whole[1:][whole[1:] == whole[:-1]])[:_READ]


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
