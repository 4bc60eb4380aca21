"""An outcome on disk, read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smqopt.errors import InputError
from smqopt.scale._outcome import OUTCOME, ParquetOutcome, PurchaseRecord
from smqopt.scale._procure import check_certificate_in_parts
from smqopt.scale.parts._cluster import Progress, map_parts, workers
from smqopt.scale.passes._outcome_pass import OutcomeReader
from smqopt.verification import record_claims

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale._certificate import ParquetCertificate


def load_outcome_of_parts(
    certificate: ParquetCertificate, client: Client | None, progress: Progress | None
) -> ParquetOutcome:
    """Read and check every part of an outcome."""
    solution = check_certificate_in_parts(certificate).solution
    folder = solution.out / OUTCOME
    missing = [part.name for part in solution.parts if not (folder / part.name).is_file()]
    if missing:
        raise InputError(str(folder / missing[0]), "is missing", remedy="procure: what is there is not bought again")
    with workers(client) as pool:
        found = map_parts(pool, OutcomeReader(solution, folder), list(solution.parts), _join, progress)
    return record_claims(ParquetOutcome(certificate, tuple(found)))


def _join(every: list[list[PurchaseRecord]]) -> list[PurchaseRecord]:
    return [record for one in every for record in one]
