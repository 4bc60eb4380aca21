"""What is public of an answer in parts, derived again from the purchase."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from smqopt.errors import InputError
from smqopt.query import Median, NearRank, PopulationQuery, Quantile, ReleaseOfParts, form_of_one
from smqopt.scale._parts_answer import ParquetAnswer
from smqopt.scale.parts._cluster import Progress, map_parts
from smqopt.scale.passes._answer_passes import AcceptanceCounts, PrivateSums, RequirementsPass, TotalsPass, WeightsPass
from smqopt.scale.passes._bought_rows import PartOfPurchase, PurchaseReader

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale._outcome import ParquetOutcome


def release_of_parts(
    query: PopulationQuery, population: int, counts: AcceptanceCounts, variance: float | None
) -> ReleaseOfParts:
    """Choose the weights of a linear release."""
    points, weight = counts.points()
    return ReleaseOfParts.of(query, population, points, weight, counts.largest, variance)


def refit(
    query: PopulationQuery,
    outcome: ParquetOutcome,
    variance: float | None,
    share: Fraction,
    client: Client,
    progress: Progress | None = None,
) -> ParquetAnswer:
    """Fit a query to a purchase as `answer` did, with a value of 0.

    No entry is read.

    Raises
    ------
    InputError
        If nothing was bought, or the query is not answered of parts.
    """
    if outcome.bought == 0:
        raise InputError("answer", "stands beside a purchase of nobody", remedy="delete it")
    solution, n = outcome.certificate.solution, outcome.population
    reader = PurchaseReader(solution, None, "", share)
    rows = [PartOfPurchase(*pair) for pair in zip(solution.parts, outcome.parts, strict=True)]

    def over_parts(task: Any, merge: Any) -> Any:
        return map_parts(client, task, rows, merge, progress)

    asked: Any = query
    everyone: Any = query
    if isinstance(query, Median | Quantile):
        sure = over_parts(RequirementsPass(reader), NearRank.join).sure
    else:
        form_of_one(query)
        counts = over_parts(WeightsPass(reader), AcceptanceCounts.join)
        release = release_of_parts(query, n, counts, variance)
        totals = over_parts(TotalsPass(reader, release), PrivateSums.join)
        asked, everyone, sure = release.fit_total(totals.bought), release.fit_total(totals.everyone), np.zeros(0)
    return ParquetAnswer(0, n, outcome.bought, False, share, query, asked, everyone, sure)
