"""Answers from a market in parts: exact sums over the parts, then one draw."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smqopt.errors import InputError, UncertifiedError, check_kind
from smqopt.query import (
    EVERYBODY,
    EntryPrior,
    FittedQuery,
    Ledger,
    Median,
    NearRank,
    PopulationQuery,
    Quantile,
    checked_share,
    form_of_one,
    kept_answer,
    variance_of,
    warn_of_all,
)
from smqopt.scale._outcome import ParquetOutcome
from smqopt.scale._parts_answer import ParquetAnswer, rank_range
from smqopt.scale._procure import check_certificate_in_parts, refuse_other_names
from smqopt.scale._refit import release_of_parts
from smqopt.scale.parts._cluster import Progress, map_parts, workers
from smqopt.scale.parts._part_records import root_of
from smqopt.scale.passes._answer_passes import (
    AcceptanceCounts,
    CountsPass,
    NearPass,
    PrivateSums,
    SumsPass,
    WeightsPass,
    shift_of,
)
from smqopt.scale.passes._bought_rows import PartOfPurchase, PurchaseReader
from smqopt.scale.passes._first_pass import refuse_other_parts
from smqopt.verification import is_unchanged

if TYPE_CHECKING:
    from distributed import Client

_ROOM = 4096
"""Bytes that an answer may need on disk."""


def answer_parts(
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
) -> ParquetAnswer:
    """Answer a query on the bought entries of a market in parts.

    Counts, sums, means and histograms by the linear release, medians and quantiles by P-E. Sums are
    whole numbers, so they are the same for any parts and any workers; nothing is drawn before all
    parts are summed, and then once.

    Parameters
    ----------
    query, rng, share, assumption, deliver
        As for `answer` in memory.
    data
        A folder of Parquet files of the owners' names: the entries of the owners bought, or of all
        owners, one row each, in the owners' order; with their column of ids, where they have one.
    outcome
        Who was bought, as `procure` returned it.
    ledger
        One that is kept for markets in parts alone: all owners have one account, and each is
        charged whenever one is.
    column
        The column of entries. Private.
    client, progress
        As for `solve`.

    Raises
    ------
    UncertifiedError
        If the outcome is not what `procure` made in this process.
    LedgerError
        If less than the share is left; nothing was drawn.
    InputError
        If the query is not answered of parts, nothing was bought, or entries do not lie as the
        owners do; no error shows an entry.
    """
    part = checked_share(share)
    _check(query, data, outcome, rng, ledger)
    folder, solution = Path(data).absolute(), outcome.certificate.solution
    names = [one.name for one in solution.parts]
    refuse_other_parts(solution.market, names)
    refuse_other_names(folder, names)
    rows = [PartOfPurchase(*pair) for pair in zip(solution.parts, outcome.parts, strict=True)]
    with workers(client) as pool:
        asking = _Asking(query, outcome, rows, PurchaseReader(solution, folder, column, part), pool, progress)
        ready = asking.rank() if isinstance(query, Median | Quantile) else asking.sums(assumption)
    with _release(ledger, outcome, part, query, ready) as release:
        kept = None if release is None else release.kept
        charge = None if release is None else release.charge
        if kept is None:
            value = ready.value(rng)
        else:  # it was drawn: draw nothing again
            value, head = kept_answer(kept, ready.asked, outcome.bought, outcome.population)
            charge = None if charge is None else dataclasses.replace(charge, head=head)
        found = ParquetAnswer(
            value, outcome.population, outcome.bought, rng is not None, part, query, ready.asked, ready.everyone,
            ready.sure, charge,
        )  # fmt: skip
        if release is not None and release.kept is None:
            release.keep(found.to_dict())
        if release is None and rng is None:
            warn_of_all(outcome.certificate.fingerprint, part)
        if deliver is not None:
            deliver(found)
    return found


def _check(query: Any, data: Any, outcome: Any, rng: Any, ledger: Any) -> None:
    check_kind(query, PopulationQuery, "argument 'query'", "a Query", "give, say, Count()")
    check_kind(data, (str, os.PathLike), "answer: argument 'data'", "a folder of Parquet files", "write them there")
    if not isinstance(query, Median | Quantile):
        form_of_one(query)
    if not (rng is None or isinstance(rng, np.random.Generator)):
        raise InputError(
            "argument 'rng'", "must be a numpy Generator or None", value=type(rng).__name__, remedy="give nothing"
        )
    if ledger is not None and (rng is not None or not isinstance(ledger, Ledger)):
        raise InputError("argument 'ledger'", "must be a Ledger, of a release without a generator", remedy="drop one")
    check_certificate_in_parts(outcome.certificate)
    if not is_unchanged(outcome):
        raise UncertifiedError(
            "argument 'outcome'", "is not what `procure` returned in this process", remedy="buy again: nothing is lost"
        )
    if outcome.bought == 0:
        raise InputError("argument 'outcome'", "no entries were bought", remedy="raise the budget")


@dataclass(frozen=True, eq=False)
class _Ready:
    """What the draw needs. PRIVATE, but for the queries."""

    asked: FittedQuery
    everyone: FittedQuery
    sure: Any
    value: Callable[[np.random.Generator | None], Any]


@dataclass(frozen=True, eq=False)
class _Asking:
    """A query on its way through the parts."""

    query: Any
    outcome: ParquetOutcome
    rows: list[PartOfPurchase]
    reader: PurchaseReader
    client: Client
    progress: Progress | None

    def _map(self, task: Any, merge: Any) -> Any:
        return map_parts(self.client, task, self.rows, merge, self.progress)

    def sums(self, assumption: EntryPrior | None) -> _Ready:
        """Choose public weights, and add up entries by them."""
        n, k = self.outcome.population, self.outcome.bought
        form = form_of_one(self.query)
        variance = None if assumption is None else variance_of(form, assumption)
        counts: AcceptanceCounts = self._map(
            WeightsPass(dataclasses.replace(self.reader, data=None)), AcceptanceCounts.join
        )
        release = release_of_parts(self.query, n, counts, variance)
        found: PrivateSums = self._map(SumsPass(self.reader, release), PrivateSums.join)
        asked = release.fit_total(found.bought)
        draws = asked.draws_at(found.centres)
        return _Ready(
            asked,
            release.fit_total(found.everyone),
            np.zeros(0),
            lambda rng: asked.value([one(rng) for one in draws], k, n),
        )

    def rank(self) -> _Ready:
        """Find the entry of a rank, and what lies near it."""
        n, k, query = self.outcome.population, self.outcome.bought, self.query
        h, low, high = rank_range(query, k)
        start, shift = low, shift_of(low, high)
        while True:
            reached = np.cumsum(self._map(CountsPass(self.reader, query, start, shift), sum))
            start += (int(np.searchsorted(reached, h)) - 1) << shift
            if shift == 0:
                break
            shift = shift_of(0, (1 << shift) - 1)
        near: NearRank = self._map(NearPass(self.reader, query, start), NearRank.join)
        return _Ready(
            query, query, near.sure, lambda rng: query.value([near.draw(start, h, low, high, rng)], k, n)
        )  # fmt: skip


def _release(
    ledger: Ledger | None, outcome: ParquetOutcome, share: Fraction, query: PopulationQuery, ready: _Ready
) -> AbstractContextManager[Any]:
    """Charge all owners, or find an unconfirmed charge of the same purpose."""
    if ledger is None:
        return nullcontext()
    asked = json.dumps([query.parameters(), ready.asked.facts()], sort_keys=True)
    note = {
        "query": query.name,
        "certificate": outcome.certificate.root,
        "outcome": root_of(json.dumps(asdict(part), sort_keys=True) for part in outcome.parts),
        "asked": hashlib.sha256(asked.encode()).hexdigest(),
    }
    return ledger.release([EVERYBODY], [1.0], share, note, room=_ROOM + 2 * len(asked) + 64 * ready.asked.figures)
