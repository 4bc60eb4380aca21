"""`smq.verify`, of a solution in memory or in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from smqopt.market import Solution
from smqopt.scale._solution import ParquetSolution
from smqopt.scale.verbs._options import refuse_options, wrap_verb
from smqopt.verification import Certificate, verify as verify_in_memory

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale._certificate import ParquetCertificate
    from smqopt.scale.parts._cluster import Progress


_OF_PARTS = """\
Thresholds in parts are read from disk, part by part, by the workers of `client`; `progress` is
called with how many parts of how many are done."""


@overload
def verify(
    solution: Solution,
    against: Solution | None = None,
    *,
    gap_tolerance: float | None = None,
    prove: bool | None = None,
    progress: Progress | None = None,
    processes: int = 1,
) -> Certificate: ...


@overload
def verify(
    solution: ParquetSolution,
    *,
    client: Client | None = None,
    gap_tolerance: float | None = None,
    progress: Progress | None = None,
) -> ParquetCertificate: ...


@wrap_verb(verify_in_memory, _OF_PARTS)
def verify(solution: Any, against: Any = None, **options: Any) -> Any:
    """Verify a solution in memory, or in parts."""
    if not isinstance(solution, ParquetSolution):
        return verify_in_memory(solution, against, **options)
    from smqopt.scale._verify import verify_parts  # noqa: PLC0415 -- loads pyarrow

    given = {"against": against, **options}
    return verify_parts(solution, **refuse_options("verify", given, ("client", "gap_tolerance", "progress")))
