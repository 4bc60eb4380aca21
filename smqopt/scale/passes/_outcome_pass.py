"""The pass that reads an outcome, row by row beside owners and thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import units_of_sum
from smqopt.scale._outcome import PurchaseRecord
from smqopt.scale.parts._part_files import hash_of_file
from smqopt.scale.parts._part_records import OfferRecord
from smqopt.scale.parts._row_groups import PartFile, doubles, names, numbers
from smqopt.scale.passes._verify_pass import paired_groups, refuse_other_ids

if TYPE_CHECKING:
    from smqopt.scale._solution import ParquetSolution


@dataclass(frozen=True)
class OutcomeReader:
    """Reads and checks the outcome of one part."""

    solution: ParquetSolution
    folder: Path

    def __call__(self, part: OfferRecord) -> list[PurchaseRecord]:
        path, thresholds = self.folder / part.name, self.solution.file_of(part)
        if hash_of_file(thresholds) != part.thresholds:
            raise InputError(str(thresholds), "was changed since it was verified", remedy="solve and verify again")
        digest, market = hash_of_file(path), self.solution.market
        ids = () if market.owner_id is None else ("owner_id",)
        tables = PartFile(path, (*ids, "threshold", "selected", "payment")).groups()
        bought = paid = 0
        for group, offers in paired_groups(market, thresholds, part):
            where, table = next(tables, (str(path), None))
            if table is None or table.num_rows != group.epsilon.size:
                raise InputError(where, "does not have the rows of its owners", remedy="procure again")
            if group.ids is not None:
                refuse_other_ids(names(table, "owner_id", where), group.ids, where)
            theta, payment = (doubles(table, name, where, private=True) for name in ("threshold", "payment"))
            selected = numbers(table, "selected", where, flags=True).astype(bool)
            lower, upper = theta == offers.threshold, theta == offers.upper
            offered = (lower & (offers.acceptance > 0)) | (upper & (offers.upper_acceptance > 0))
            odd = ~(lower | upper) | (selected & ~offered) | (payment != np.where(selected, theta, 0.0))
            if odd.any():
                row = int(np.argmax(odd)) + 1
                raise InputError(f"{where}, row {row}", "is no outcome of its thresholds", remedy="procure again")
            bought += int(np.count_nonzero(selected))
            paid += units_of_sum(payment)
        if next(tables, None) is not None:
            raise InputError(str(path), "has more rows than its owners", remedy="procure again")
        return [PurchaseRecord(part.name, part.rows, bought, hex(paid), digest)]
