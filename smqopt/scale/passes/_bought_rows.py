"""What was bought of a part, with its entries, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.query import part_of
from smqopt.scale._outcome import OUTCOME, PurchaseRecord
from smqopt.scale.parts._part_files import hash_of_file
from smqopt.scale.parts._part_records import OfferRecord
from smqopt.scale.parts._row_groups import PartFile, names, numbers
from smqopt.scale.parts._row_reader import RowReader
from smqopt.scale.passes._verify_pass import paired_groups, refuse_other_ids

if TYPE_CHECKING:
    from smqopt.scale._solution import ParquetSolution


@dataclass(frozen=True)
class PartOfPurchase:
    """What a worker is given of one part."""

    offers: OfferRecord
    bought: PurchaseRecord


@dataclass(frozen=True, eq=False)
class BoughtRows:
    """The owners of one row group, and the entries of those who sold."""

    where: str
    epsilon: Floats
    """What may be spent of each requirement, all owners; shape (n,)."""
    acceptance: Floats
    """The probability that each sells, over the draw of her price."""
    selected: NDArray[np.bool_]
    entries: NDArray[Any] = field(repr=False)
    """PRIVATE; shape (k,)."""
    ids: pa.Array | None
    """Of those who sold."""

    @property
    def names(self) -> _Names:
        """What those who sold are called in errors."""
        return _Names(self.ids, self.selected)


class _Names:
    """Names that are made when somebody asks for one."""

    def __init__(self, ids: pa.Array | None, selected: NDArray[np.bool_]) -> None:
        self._ids, self._selected = ids, selected

    def __len__(self) -> int:
        return int(np.count_nonzero(self._selected))

    def __getitem__(self, k: Any) -> str:
        return (
            str(self._ids[int(k)].as_py()) if self._ids is not None else f"row {np.flatnonzero(self._selected)[k] + 1}"
        )


@dataclass(frozen=True)
class PurchaseReader:
    """Reads owners, offers, the outcome and entries side by side."""

    solution: ParquetSolution
    data: Path | None
    """The folder of entries; None where they are not needed."""
    column: str
    share: Fraction

    def rows(self, part: PartOfPurchase) -> Iterator[BoughtRows]:
        """Read one part.

        Raises
        ------
        InputError
            If a file was changed, or entries do not lie as the owners do; shows no entry.
        """
        solution, offers, high = self.solution, part.offers, self.solution.probability_of_high
        market, thresholds = solution.market, solution.file_of(offers)
        bought = solution.out / OUTCOME / offers.name
        for path, digest, verb in ((thresholds, offers.thresholds, "verified"), (bought, part.bought.file, "written")):
            if hash_of_file(path) != digest:
                raise InputError(str(path), f"was changed since it was {verb}", remedy="put it back, or begin anew")
        outcome = PartFile(bought, ("selected",)).groups()
        entries = None if self.data is None or part.bought.bought == 0 else self._entries(part)
        for group, offered in paired_groups(market, thresholds, offers):
            selected = np.asarray(next(outcome)[1]["selected"].to_numpy())
            epsilon = part_of(group.epsilon, self.share)
            q = (
                (1.0 - high) * offered.acceptance + high * offered.upper_acceptance
                if offers.drawing
                else offered.acceptance
            )
            ids = None if group.ids is None else group.ids.filter(pa.array(selected))
            values: NDArray[Any] = np.zeros(0)
            if entries is not None:
                values = entries.next(selected, group.ids, ids)
            yield BoughtRows(group.where, epsilon, q, selected, values, ids)
        if entries is not None:
            entries.reader.end()

    def _entries(self, part: PartOfPurchase) -> _Entries:
        assert self.data is not None  # noqa: S101
        path = self.data / part.offers.name
        try:
            rows = pq.read_metadata(path).num_rows
        except (OSError, pa.ArrowException) as error:
            raise InputError(str(path), "is missing or no Parquet file", remedy="write the entries there") from error
        if rows not in (part.offers.rows, part.bought.bought):
            raise InputError(
                str(path), f"must hold the entries of the {part.bought.bought} owners bought, or of all", value=rows,
                remedy="write one row an owner, in the order of the owners' part: nothing is shuffled here",
            )  # fmt: skip
        known = self.solution.market.owner_id
        columns = (self.column,) if known is None else (known, self.column)
        return _Entries(RowReader(PartFile(path, columns)), known, self.column, every=rows == part.offers.rows)


@dataclass(frozen=True)
class _Entries:
    reader: RowReader
    owner_id: str | None
    column: str
    every: bool
    """Whether all owners have a row, bought or not."""

    def next(self, selected: NDArray[np.bool_], ids: pa.Array | None, bought: pa.Array | None) -> NDArray[Any]:
        """Return the entries of those selected; what others have is not looked at."""
        rows = selected.size if self.every else int(np.count_nonzero(selected))
        if rows == 0:
            return np.zeros(0)
        table = self.reader.take(rows)
        known = ids if self.every else bought
        if known is not None and self.owner_id is not None:
            refuse_other_ids(names(table, self.owner_id, self.reader.where), known, self.reader.where)
        if self.every:
            table = table.filter(pa.array(selected))
        return numbers(table, self.column, self.reader.where, flags=True)
