"""A sample of owners whose law has parameters in columns: the same for any parts.

The rows whose requirement and parameters hash to the least numbers, each with how many owners are
alike (Cohen and Kaplan 2007, bottom-k).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats

_ROWS = 1 << 14
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows with the least hashes; all of them where there are few."""

    numbers: NDArray[np.uint64]
    """Their hashes, increasing; shape (k,)."""
    rows: Floats
    """ε and the parameters, shape (k, 1 + p)."""
    counts: NDArray[np.int64]
    """How many owners are alike; shape (k,)."""

    @classmethod
    def of(cls, epsilon: Floats, parameters: Floats) -> Sample:
        """Sample owners, shape (n,) and (n, p)."""
        rows = np.column_stack([epsilon, parameters])
        numbers = _hash(rows)
        if numbers.size > _ROWS:
            # all copies of the rows that may count: up to the hash at which enough differ
            some = np.unique(np.partition(numbers, 4 * _ROWS)[: 4 * _ROWS]) if numbers.size > 4 * _ROWS else numbers
            if some.size > _ROWS:
                kept = numbers <= np.sort(some)[_ROWS]
                numbers, rows = numbers[kept], rows[kept]
        return _least(numbers, rows, np.ones(numbers.size, dtype=np.int64))

    @property
    def weights(self) -> Floats:
        """How many owners each row stands for, shape (k,)."""
        if self.numbers.size < _ROWS:
            return self.counts.astype(np.float64)
        share = float(self.numbers[-1]) / 2.0**64
        return self.counts / share


def merge_samples(every: Sequence[Sample]) -> Sample:
    """Return the least rows of all."""
    return _least(
        np.concatenate([one.numbers for one in every]),
        np.concatenate([one.rows for one in every]),
        np.concatenate([one.counts for one in every]),
    )


def _least(numbers: NDArray[np.uint64], rows: Floats, counts: NDArray[np.int64]) -> Sample:
    different, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    total = np.zeros(different.size, dtype=np.int64)
    np.add.at(total, place, counts)
    kept = slice(0, _ROWS)
    return Sample(different[kept], rows[first[kept]], total[kept])


def _hash(rows: Floats) -> NDArray[np.uint64]:
    mixed = np.zeros(rows.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in np.ascontiguousarray(rows.T).view(np.uint64):
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + column + np.uint64(1)
            for shift, factor in ((30, _FACTORS[0]), (27, _FACTORS[1])):
                mixed ^= mixed >> np.uint64(shift)
                mixed *= factor
            mixed ^= mixed >> np.uint64(31)
    return mixed
