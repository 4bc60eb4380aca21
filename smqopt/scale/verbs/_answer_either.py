"""`smq.answer`, from a purchase in memory or in parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from smqopt.mechanism import Outcome
from smqopt.query import Answer, EntryPrior, Ledger, PopulationQuery, answer as answer_in_memory
from smqopt.scale._outcome import ParquetOutcome
from smqopt.scale.verbs._options import refuse_options, wrap_verb

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale._parts_answer import ParquetAnswer
    from smqopt.scale.parts._cluster import Progress


_OF_PARTS = """\
Of a market in parts the data are a folder of Parquet files of the owners' names, with a `column`
"entry" of the owners bought, or of all. Counts, sums, means and histograms are answered by the
linear release, medians and quantiles by P-E; a ledger charges all owners at once. `client` and
`progress` as for `solve`."""


@overload
def answer(
    query: PopulationQuery,
    data: ArrayLike | Mapping[str, float],
    outcome: Outcome,
    rng: np.random.Generator | None = None,
    *,
    ledger: Ledger | None = None,
    share: Any = 1,
    estimator: str | None = None,
    assumption: EntryPrior | None = None,
    deliver: Callable[[Answer], None] | None = None,
) -> Answer: ...


@overload
def answer(
    query: PopulationQuery,
    data: str | os.PathLike[str],
    outcome: ParquetOutcome,
    rng: np.random.Generator | None = None,
    *,
    ledger: Ledger | None = None,
    share: Any = 1,
    assumption: EntryPrior | None = None,
    deliver: Callable[[ParquetAnswer], None] | None = None,
    column: str = "entry",
    client: Client | None = None,
    progress: Progress | None = None,
) -> ParquetAnswer: ...


@wrap_verb(answer_in_memory, _OF_PARTS)
def answer(query: Any, data: Any, outcome: Any, rng: Any = None, **options: Any) -> Any:
    """Answer from a purchase in memory, or in parts."""
    if not isinstance(outcome, ParquetOutcome):
        return answer_in_memory(query, data, outcome, rng, **options)
    from smqopt.scale._answer import answer_parts  # noqa: PLC0415 -- loads pyarrow

    known = ("ledger", "share", "assumption", "deliver", "column", "client", "progress")
    return answer_parts(query, data, outcome, rng, **refuse_options("answer", options, known))
