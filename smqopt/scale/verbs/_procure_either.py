"""`smq.procure`, from a market in memory or in parts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from smqopt.mechanism import Outcome, procure as procure_in_memory
from smqopt.scale._certificate import ParquetCertificate
from smqopt.scale.verbs._options import refuse_options, wrap_verb
from smqopt.verification import Certificate

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale._outcome import ParquetOutcome
    from smqopt.scale.parts._cluster import Progress


_OF_PARTS = """\
Of a market in parts the reports are a folder of Parquet files of the owners' names, with a `column`
"report"; the outcome is written to `private/outcome`. `client` and `progress` as for `solve`."""


@overload
def procure(
    certificate: Certificate,
    reported_valuations: ArrayLike | Mapping[str, float],
    payments: str = "posted",
    rng: np.random.Generator | None = None,
    **options: Any,
) -> Outcome: ...


@overload
def procure(
    certificate: ParquetCertificate,
    reported_valuations: str | os.PathLike[str],
    payments: str = "posted",
    rng: np.random.Generator | None = None,
    *,
    column: str = "report",
    client: Client | None = None,
    progress: Progress | None = None,
) -> ParquetOutcome: ...


@wrap_verb(procure_in_memory, _OF_PARTS)
def procure(
    certificate: Any, reported_valuations: Any, payments: str = "posted", rng: Any = None, **options: Any
) -> Any:
    """Buy from a market in memory, or in parts."""
    if not isinstance(certificate, ParquetCertificate):
        return procure_in_memory(certificate, reported_valuations, payments, rng, **options)
    from smqopt.scale._procure import procure_parts  # noqa: PLC0415 -- loads pyarrow

    given = refuse_options("procure", options, ("column", "client", "progress"))
    return procure_parts(certificate, reported_valuations, payments=payments, rng=rng, **given)
