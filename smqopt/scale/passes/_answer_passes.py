"""The passes of an answer: public weights, private sums, entries near a rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.query import FittedQuery, NearRank, ReleaseOfParts
from smqopt.scale.passes._bought_rows import BoughtRows, PartOfPurchase, PurchaseReader

_SHIFT = 43
"""Bits of ε below those of its bin: 512 bins to the octave."""
_ONE = float(1 << 30)
"""Sums in bins are multiples of one over this."""
_DENSE = 1 << 20
"""Bins that lie so near are counted in one array."""
_BINS = 1 << 16
"""So many candidates for a rank are counted at a time."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AcceptanceCounts:
    """Σ q and Σ q z in bins of ε, as whole numbers; z the place in the bin. Public."""

    keys: Integers
    sums: Integers
    """Shape (m, 2)."""
    largest: float
    """The largest ε that may be spent."""

    @classmethod
    def join(cls, every: Sequence[AcceptanceCounts]) -> AcceptanceCounts:
        """Add up."""
        keys, number = np.unique(np.concatenate([one.keys for one in every]), return_inverse=True)
        sums = np.zeros((keys.size, 2), dtype=np.int64)
        np.add.at(sums, number, np.concatenate([one.sums for one in every]))
        return cls(keys, sums, max(one.largest for one in every))

    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return one ε a bin, and the sum of q over its owners."""
        ends = np.stack([self.keys << _SHIFT, (self.keys + 1) << _SHIFT]).view(np.float64)
        share = np.minimum(self.sums[:, 1] / self.sums[:, 0], 1.0)
        return ends[0] + share * (ends[1] - ends[0]), self.sums[:, 0] / _ONE


@dataclass(frozen=True)
class WeightsPass:
    """Counts the requirements of one part, by how likely owners sell."""

    reader: PurchaseReader

    def __call__(self, part: PartOfPurchase) -> AcceptanceCounts:
        return AcceptanceCounts.join([self._of(rows) for rows in self.reader.rows(part)])

    def _of(self, rows: BoughtRows) -> AcceptanceCounts:
        bits = rows.epsilon.view(np.int64)
        which = bits >> _SHIFT
        first, last = int(which.min()), int(which.max())
        if last - first < _DENSE:
            keys, number = np.arange(first, last + 1), which - first
        else:
            keys, number = np.unique(which, return_inverse=True)
        place = (bits & ((1 << _SHIFT) - 1)) * 2.0**-_SHIFT
        columns = [
            np.bincount(number, weights=np.rint(rows.acceptance * power * _ONE), minlength=keys.size).astype(np.int64)
            for power in (1.0, place)
        ]
        sums, some = np.column_stack(columns), columns[0] > 0
        return AcceptanceCounts(keys[some], sums[some], float(rows.epsilon.max()))


@dataclass(frozen=True)
class PrivateSums:
    """Weighted sums before noise, and the weights behind them. PRIVATE."""

    centres: tuple[int, ...] = field(repr=False)
    bought: int
    """Σ α_i over those who sold."""
    everyone: int
    """Σ α_i over those who could."""

    @classmethod
    def join(cls, every: Sequence[PrivateSums]) -> PrivateSums:
        """Add up."""
        centres = tuple(map(sum, zip(*(one.centres for one in every), strict=True)))
        return cls(centres, sum(one.bought for one in every), sum(one.everyone for one in every))


@dataclass(frozen=True)
class SumsPass:
    """Adds up the weighted entries of one part."""

    reader: PurchaseReader
    release: ReleaseOfParts

    def __call__(self, part: PartOfPurchase) -> PrivateSums:
        return PrivateSums.join([self._of(rows) for rows in self.reader.rows(part)])

    def _of(self, rows: BoughtRows) -> PrivateSums:
        alpha = self.release.weights(rows.epsilon)
        fitted = self.release.fit(alpha[rows.selected])
        entries = checked_entries(fitted, rows)
        return PrivateSums(
            tuple(fitted.centres(entries)),
            int(alpha[rows.selected].sum()),
            int(alpha[rows.acceptance > 0].sum()),
        )


@dataclass(frozen=True)
class TotalsPass:
    """Adds up the weights of one part; reads no entry."""

    reader: PurchaseReader
    release: ReleaseOfParts

    def __call__(self, part: PartOfPurchase) -> PrivateSums:
        return PrivateSums.join([self._of(rows) for rows in self.reader.rows(part)])

    def _of(self, rows: BoughtRows) -> PrivateSums:
        alpha = self.release.weights(rows.epsilon)
        return PrivateSums((), int(alpha[rows.selected].sum()), int(alpha[rows.acceptance > 0].sum()))


@dataclass(frozen=True)
class RequirementsPass:
    """Keeps of one part the least requirements of those who sold; reads no entry."""

    reader: PurchaseReader

    def __call__(self, part: PartOfPurchase) -> NearRank:
        return NearRank.join(
            [
                NearRank.of(np.zeros(np.count_nonzero(rows.selected), dtype=np.int64), rows.epsilon[rows.selected], 0)
                for rows in self.reader.rows(part)
            ]
        )


def checked_entries(fitted: FittedQuery, rows: BoughtRows) -> Integers:
    """Check the entries; name file and owner of one that is bad, and show none."""
    try:
        return fitted.entries(rows.entries, rows.names)  # type: ignore[arg-type]  # names that are made when asked for
    except InputError as error:
        raise InputError(
            rows.where, str(error), remedy="correct the entry, counted among those bought of it"
        ) from error


@dataclass(frozen=True)
class CountsPass:
    """Counts the entries of one part below a range and in equal bins of it. PRIVATE."""

    reader: PurchaseReader
    query: Any
    low: int
    shift: int
    """A bin holds 2 to this power of whole numbers."""

    def __call__(self, part: PartOfPurchase) -> Integers:
        found = np.zeros(_BINS + 2, dtype=np.int64)
        for rows in self.reader.rows(part):
            place = (checked_entries(self.query, rows) - self.low >> self.shift) + 1
            found += np.bincount(np.clip(place, 0, _BINS + 1), minlength=_BINS + 2)
        return found


@dataclass(frozen=True)
class NearPass:
    """Keeps of one part what lies near a rank. PRIVATE."""

    reader: PurchaseReader
    query: Any
    m: int

    def __call__(self, part: PartOfPurchase) -> NearRank:
        return NearRank.join(
            [
                NearRank.of(checked_entries(self.query, rows), rows.epsilon[rows.selected], self.m)
                for rows in self.reader.rows(part)
            ]
        )


def shift_of(low: int, high: int) -> int:
    """Return the bits of a bin, so that the bins reach from one end to the other."""
    return max((high - low).bit_length() - (_BINS.bit_length() - 1), 0)
