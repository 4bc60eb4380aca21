"""Algorithm 1, part by part: reports beside owners and thresholds, row by row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from smqopt.errors import InputError, UncertifiedError
from smqopt.numeric import units_of_sum
from smqopt.scale._certificate import ParquetCertificate, fingerprint_of
from smqopt.scale._outcome import OUTCOME, ParquetOutcome, PurchaseRecord
from smqopt.scale.parts._cluster import Progress, map_parts, workers
from smqopt.scale.parts._folder import parts_of_folder
from smqopt.scale.parts._part_files import hash_of_file, read_note, write_note, write_part
from smqopt.scale.parts._part_records import OfferRecord, record_of
from smqopt.scale.parts._row_groups import PartFile, doubles, names
from smqopt.scale.passes._first_pass import refuse_other_parts
from smqopt.scale.passes._outcome_pass import OutcomeReader
from smqopt.scale.passes._verify_pass import paired_groups, refuse_other_ids
from smqopt.verification import is_unchanged, record_claims

if TYPE_CHECKING:
    from distributed import Client


_LAST_BIT = 2.0**-53
"""Numbers that a generator draws from [0, 1) are multiples of this."""
_SMALL = 2.0**-20
"""Probabilities that such a multiple might miss by more than a share of 2⁻³³."""


def check_certificate_in_parts(certificate: object) -> ParquetCertificate:
    """Return the certificate, if it is valid and what `verify` made in this process.

    Raises
    ------
    UncertifiedError
        If it is not.
    """
    where = "argument 'certificate'"
    if type(certificate) is not ParquetCertificate:
        raise UncertifiedError(
            where, "must be of a market in parts", value=type(certificate).__name__, remedy="give what `verify` returns"
        )
    if certificate.valid is not True:
        raise UncertifiedError(where, f"must be valid: {' and '.join(certificate.reasons)}", remedy="solve again")
    if not is_unchanged(certificate) or fingerprint_of(certificate.solution) != certificate.fingerprint:
        raise UncertifiedError(where, "was changed or copied since it was verified", remedy="verify the solution again")
    return certificate


def procure_parts(
    certificate: ParquetCertificate,
    reports: str | os.PathLike[str],
    *,
    column: str = "report",
    payments: str = "posted",
    rng: np.random.Generator | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
) -> ParquetOutcome:
    """Buy from owners who report at most their certified thresholds.

    Parameters
    ----------
    certificate
        The valid certificate.
    reports
        A folder of Parquet files of the same names, rows and order as the owners'; with their
        column of ids, where they have one.
    column
        The column of reported valuations ψ_i ≥ 0, in currency. Private.
    payments
        "posted": each is paid her threshold. Other rules need a market in memory.
    rng
        Draws the prices of who draws; None takes the system's source. A purchase that was stopped
        goes on with what was drawn.
    client, progress
        As for `solve`.

    Raises
    ------
    UncertifiedError
        If the certificate is not valid.
    InputError
        If the reports lie in other parts, or a row is of another owner.
    """
    check_certificate_in_parts(certificate)
    if payments != "posted":
        raise InputError(
            "procure: argument 'payments'", "is not supported for a market in parts", value=payments,
            remedy='pay "posted"',
        )  # fmt: skip
    if not isinstance(reports, (str, os.PathLike)):
        raise InputError(
            "procure: argument 'reported_valuations'", "must be a folder of Parquet files", remedy="write them there"
        )
    if not (rng is None or isinstance(rng, np.random.Generator)):
        raise InputError("argument 'rng'", "must be a numpy Generator or None", value=type(rng).__name__)
    folder, solution = Path(reports).absolute(), certificate.solution
    market = solution.market
    if column == market.owner_id or (folder == market.folder and column in market.columns):
        raise InputError("procure: argument 'column'", "is a column of the owners", value=column)
    refuse_other_parts(market, [part.name for part in solution.parts])
    refuse_other_names(folder, [part.name for part in solution.parts])
    seeds = [-1] * len(solution.parts) if rng is None else rng.integers(2**62, size=len(solution.parts)).tolist()
    task = _Buyer(certificate.solution.out, solution, certificate.root, folder, column)
    with workers(client) as pool:
        found = map_parts(pool, task, list(zip(solution.parts, seeds, strict=True)), _join, progress)
    return record_claims(ParquetOutcome(certificate, tuple(found)))


def refuse_other_names(folder: Path, owners: list[str]) -> None:
    """Refuse a folder whose parts are not named as the owners' are.

    Raises
    ------
    InputError
        Naming a part.
    """
    found = parts_of_folder(folder)
    odd = sorted(set(found) ^ set(owners))
    if odd:
        rule = "has no part of owners beside it" if odd[0] in found else "is missing: the owners have such a part"
        raise InputError(
            str(folder / odd[0]), rule,
            remedy="write one file for each part of the owners, under its name and in its order of rows: "
            "nothing is shuffled here; dask.dataframe or a database can repartition",
        )  # fmt: skip


def _join(every: list[list[PurchaseRecord]]) -> list[PurchaseRecord]:
    return [record for one in every for record in one]


@dataclass(frozen=True)
class _Buyer:
    """Buys from one part."""

    out: Path
    solution: Any
    root: str
    reports: Path
    column: str

    def __call__(self, given: tuple[OfferRecord, int]) -> list[PurchaseRecord]:
        part, seed = given
        path, at = self.out / OUTCOME / part.name, self.out / "private" / ".work" / f"{part.name}.json"
        try:
            state = (self.reports / part.name).stat()
        except OSError as error:
            raise InputError(str(self.reports / part.name), "is missing", remedy="put the part back") from error
        key = {
            "root": self.root, "reports": str(self.reports), "column": self.column, "seed": seed,
            "size": state.st_size, "modified": state.st_mtime_ns,
        }  # fmt: skip
        known = read_note(at, key, partial(record_of, PurchaseRecord))
        if known is not None and path.is_file() and self._stands(part, known):
            return [known]
        thresholds = self.solution.file_of(part)
        if hash_of_file(thresholds) != part.thresholds:
            raise InputError(str(thresholds), "was changed since it was verified", remedy="solve and verify again")
        buying = _Buying(self, np.random.default_rng(None if seed < 0 else seed))
        digest = write_part(path, buying.tables(part))
        record = PurchaseRecord(part.name, part.rows, buying.bought, hex(buying.paid), digest)
        write_note(at, key, asdict(record))
        return [record]

    def _stands(self, part: OfferRecord, known: PurchaseRecord) -> bool:
        """Tell whether an earlier run bought what it noted."""
        try:
            return OutcomeReader(self.solution, self.out / OUTCOME)(part) == [known]
        except InputError:  # it is bought again
            return False


@dataclass
class _Buying:
    """Sums, as row groups pass by."""

    buyer: _Buyer
    rng: np.random.Generator
    bought: int = 0
    paid: int = 0

    def tables(self, part: OfferRecord) -> Iterator[pa.Table]:
        """Yield one table of the outcome a row group."""
        solution = self.buyer.solution
        market, share = solution.market, solution.probability_of_high
        ids = () if market.owner_id is None else (market.owner_id,)
        reports = PartFile(self.buyer.reports / part.name, (*ids, self.buyer.column)).groups()
        for group, offers in paired_groups(market, solution.file_of(part), part):
            where, table = next(reports, (str(self.buyer.reports / part.name), None))
            if table is None or table.num_rows != group.epsilon.size:
                raise InputError(
                    where, "does not have the rows of the owners", value=0 if table is None else table.num_rows,
                    remedy=f"write {group.epsilon.size} rows in the same row group, in the order of the owners",
                )  # fmt: skip
            if group.ids is not None:
                refuse_other_ids(names(table, market.owner_id, where), group.ids, where)
            psi = doubles(table, self.buyer.column, where, private=True)
            low = ~self._draw(psi.size, share) if part.drawing else np.ones(psi.size, dtype=bool)
            theta = np.where(low, offers.threshold, offers.upper)
            offered = np.where(low, offers.acceptance, offers.upper_acceptance) > 0
            selected = offered & (psi <= theta)
            self.bought += int(np.count_nonzero(selected))
            paid = np.where(selected, theta, 0.0)
            self.paid += units_of_sum(paid)
            columns: dict[str, Any] = {} if group.ids is None else {"owner_id": group.ids}
            yield pa.table(columns | {"threshold": theta, "selected": selected, "payment": paid})
        if next(reports, None) is not None:
            raise InputError(
                str(self.buyer.reports / part.name), "has more rows than the owners", remedy="write one row an owner"
            )

    def _draw(self, n: int, share: float) -> NDArray[np.bool_]:
        """Say of each owner whether the upper price is drawn, which has this probability."""
        u = self.rng.random(n)
        if share < _SMALL:
            u += self.rng.random(n) * _LAST_BIT
        return u < share
