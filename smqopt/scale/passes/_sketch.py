"""The first pass: a few numbers for each law that stand for all its owners.

A law's requirements are counted one by one while few differ, else in bins of their upper bits, 512
to the octave, with sums of the powers 0 to 3 of what lies within the bin, rounded to whole
multiples of 2⁻³⁰ owner by owner. So all counts are whole numbers: they add up to the same however
the owners lie in parts. Where parameters stand in columns, the owners whose rows hash to the
least numbers are a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from smqopt.numeric import BIN_SHIFT, Floats, bins_around, places_in_bins, points_of_bins
from smqopt.scale.parts._laws import Kind
from smqopt.solvers import OwnerPart
from smqopt.valuation import Ironed, Valuation, iron, response_table

_FEW = 1 << 14
"""So many different requirements of a law are counted one by one."""
_ONE = float(1 << 30)
"""Sums in bins are multiples of one over this."""
_DENSE = 1 << 20
"""Bins that lie so near are counted in one array."""
_MOST_CORNERS = 16

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EpsilonCounts:
    """Requirements of one law, counted.

    Each by itself, or in bins.
    """

    keys: Integers
    """The bits of ε, or those of its bin; increasing."""
    sums: Integers
    """Owners, shape (k, 1); or in bins sums of four powers, shape (k, 4)."""

    @classmethod
    def from_columns(cls, keys: Integers, sums: Integers) -> EpsilonCounts:
        """Take columns that were read.

        Raises
        ------
        ValueError
            If they count nothing.
        """
        good = (
            keys.dtype == sums.dtype == np.int64 and keys.ndim == 1 and sums.shape in ((keys.size, 1), (keys.size, 4))
        )
        if not good or not keys.size or np.any(np.diff(keys) <= 0) or keys[0] < 0 or np.any(sums[:, 0] <= 0):
            raise ValueError("no counts")
        return cls(keys, sums)

    @property
    def in_bins(self) -> bool:
        """Whether they are counted in bins."""
        return bool(self.sums.shape[1] > 1)

    @classmethod
    def of(cls, epsilon: Floats) -> EpsilonCounts:
        """Count requirements, shape (n,)."""
        some = np.unique(epsilon[: 2 * _FEW])
        if some.size <= _FEW:
            counted = pc.value_counts(pa.array(epsilon.view(np.int64)))
            keys, counts = (np.asarray(counted.field(k).to_numpy(), dtype=np.int64) for k in (0, 1))
            if keys.size <= _FEW:
                order = np.argsort(keys)
                return cls(keys[order], counts[order, None])
        return cls(*_bins(epsilon.view(np.int64), None))

    def count_in_bins(self) -> EpsilonCounts:
        """Count in bins."""
        return self if self.in_bins else EpsilonCounts(*_bins(self.keys, self.sums[:, 0]))

    def window(self, low: float, high: float) -> EpsilonCounts:
        """Return those from one requirement on, below another; counted one by one."""
        low_bits, high_bits = np.array([low, high]).view(np.int64)
        inside = (self.keys >= low_bits) & (self.keys < high_bits)
        return EpsilonCounts(self.keys[inside], self.sums[inside])

    @property
    def owners(self) -> int:
        """How many are counted."""
        return int(self.sums[:, 0].sum())

    def means(self) -> tuple[Floats, Integers]:
        """Return one requirement a bin, their mean, with the number of owners."""
        if not self.in_bins:
            return self.keys.view(np.float64), self.sums[:, 0]
        low, high = ((self.keys + k << BIN_SHIFT).view(np.float64) for k in (0, 1))
        place = 0.5 + 0.5 * self.sums[:, 1] / (self.sums[:, 0] * _ONE)
        return low + (high - low) * np.clip(place, 0.0, 1.0), self.sums[:, 0]

    def rows(self) -> tuple[Floats, Floats]:
        """Return requirements with the number of owners that each stands for."""
        if not self.in_bins:
            return self.keys.view(np.float64), self.sums[:, 0].astype(np.float64)
        return points_of_bins(self.keys, self.sums.T / np.array([[1.0], [_ONE], [_ONE], [_ONE]]))


def _bins(bits: Integers, counts: Integers | None) -> tuple[Integers, Integers]:
    """Sum powers in bins: whole numbers below 2^53, which doubles add exactly."""
    which, z = places_in_bins(bits)
    first, last = int(which.min()), int(which.max())
    if last - first < _DENSE:
        keys, number = np.arange(first, last + 1, dtype=np.int64), which - first
    else:
        keys, number = np.unique(which, return_inverse=True)
    columns, product = [], z
    for power in range(4):
        term = np.ones(bits.size) if power == 0 else np.rint(product * _ONE)
        product = z.copy() if power == 0 else product * z
        if counts is None:
            columns.append(np.bincount(number, weights=term, minlength=keys.size).astype(np.int64))
        else:
            total = np.zeros(keys.size, dtype=np.int64)
            np.add.at(total, number, term.astype(np.int64) * counts)
            columns.append(total)
    sums = np.column_stack(columns)
    full = sums[:, 0] > 0
    return keys[full], sums[full]


def merge_counts(every: Sequence[EpsilonCounts], *, limit: bool = True) -> EpsilonCounts:
    """Add up; in bins as soon as one is, or too many differ and there is a limit."""
    if any(one.in_bins for one in every):
        every = [one.count_in_bins() for one in every]
    keys, number = np.unique(np.concatenate([one.keys for one in every]), return_inverse=True)
    sums = np.zeros((keys.size, every[0].sums.shape[1]), dtype=np.int64)
    np.add.at(sums, number, np.concatenate([one.sums for one in every]))
    merged = EpsilonCounts(keys, sums)
    return merged.count_in_bins() if limit and not merged.in_bins and keys.size > _FEW else merged


def owner_part(law: Valuation, epsilon: Floats, weight: Floats | float = 1.0) -> OwnerPart:
    """Return what answers a price; from a table wherever the law has one.

    Tables are used for few owners as for many, so that a part answers what the whole would.
    """
    answer = iron(law)
    return OwnerPart(answer, slice(None), epsilon, weight, response_table(answer) if law.size is None else None)


def corners(law: Valuation, x: float) -> list[tuple[float, float]]:
    """Return the intervals of ε in which an ironed law may jump at price 1/x."""
    answer = iron(law)
    if not isinstance(answer, Ironed):
        return []
    table = response_table(answer)
    found = [(s, s) for s in answer.pieces.slope.tolist()] if table is None else table.corners()
    return [(low / x, high / x) for low, high in found[:_MOST_CORNERS] if low > 0 and 0 < high / x < np.inf]


Window = tuple[float, float]


def windows_around(every: Sequence[Window]) -> list[Window]:
    """Return whole bins around intervals, none of which overlap."""
    windows: list[Window] = []
    for low, high in sorted(bins_around(low, high) for low, high in every):
        if windows and low <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(high, windows[-1][1])
        else:
            windows.append((low, high))
    return windows


@dataclass(frozen=True, eq=False)
class Sketch:
    """What stands for all owners of a market."""

    counts: Mapping[Kind, EpsilonCounts]
    """Of each common law, by its key and stratum."""
    opened: Mapping[Kind, tuple[Sequence[Window], EpsilonCounts]]
    """Of each law with jumps, windows of ε and the requirements within, one by one."""

    def owner_parts(self, laws: Sequence[Valuation]) -> list[OwnerPart]:
        """Return few weighted owners who spend what all do."""
        return [owner_part(laws[key[0]], *self.rows(key)) for key in sorted(self.counts)]

    def rows(self, key: Kind) -> tuple[Floats, Floats]:
        """Return requirements of a law with the number of owners that each stands for."""
        return self._join_windows(key, *self.counts[key].rows())

    def means(self, key: Kind) -> tuple[Floats, Integers]:
        """Return one requirement a bin, their mean, with the number of owners."""
        return self._join_windows(key, *self.counts[key].means())

    def _join_windows(self, key: Kind, epsilon: Floats, weight: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
        if not (self.counts[key].in_bins and key in self.opened):
            return epsilon, weight
        windows, apart = self.opened[key]
        kept = np.ones(epsilon.size, dtype=bool)
        for low, high in windows:
            kept &= ~((epsilon >= low) & (epsilon < high))
        rows, counts = apart.means()
        return np.concatenate([epsilon[kept], rows]), np.concatenate([weight[kept], counts])

    def windows(self, laws: Sequence[Valuation], x: float) -> dict[Kind, list[Window]]:
        """Return where answers to price 1/x may jump, of laws that are not opened there."""
        wanted = {}
        for key, counted in self.counts.items():
            if counted.in_bins:
                asked = corners(laws[key[0]], x)
                if not self.has_opened(key, asked):
                    wanted[key] = windows_around(asked)
        return wanted

    def has_opened(self, key: Kind, asked: Sequence[Window]) -> bool:
        """Return whether requirements in some intervals are known one by one."""
        known = self.opened[key][0] if key in self.opened else ()
        return all(any(w[0] <= low and high < w[1] for w in known) for low, high in asked)

    def open(self, found: Mapping[Kind, EpsilonCounts], windows: Mapping[Kind, list[Window]]) -> Sketch:
        """Return the sketch with the requirements within some windows one by one."""
        nothing = EpsilonCounts(np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.int64))
        more = {key: (windows[key], found.get(key, nothing)) for key in windows}
        return replace(self, opened={**self.opened, **more})
