"""`smqopt procure`: buy under a folder's certificate."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from smqopt.cli.outputs._folder import OUTCOME_FILE, drop_later
from smqopt.cli.outputs._load import load_certificate, load_outcome
from smqopt.cli.outputs._owner_table import read_batch, read_by_owner
from smqopt.cli.outputs._reserve import budget_in_hand
from smqopt.cli.terminal._options import AS_JSON, DATA, FOLDER, FROM_MODEL, GAP_TOLERANCE, MONEY, PAYMENTS, SEED
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.work._folder_instance import instance_of
from smqopt.cli.work._parts import lies_in_parts, procure_in_parts
from smqopt.errors import InputError, locate_errors
from smqopt.market import Solution
from smqopt.mechanism import POSTED, WHILE_IT_LASTS, join_outcomes, procure as buy
from smqopt.model_files import Instance, RandomStreams


@click.command()
@FOLDER
@click.option("--reports", metavar="FILE", help="A CSV table with columns owner and report (or as --column says).")
@click.option(
    "--column", default="report", show_default=True, metavar="NAME", help="The column of reported valuations."
)
@PAYMENTS
@MONEY
@GAP_TOLERANCE
@click.option(
    "--batch", is_flag=True, help="Only the owners in the table of --reports take part; one without a report does not."
)
@click.option("--add", is_flag=True, help="As --batch, and join it to the outcome of DIR; an owner in both is refused.")
@FROM_MODEL
@DATA
@SEED
@AS_JSON
def procure(
    folder: str,
    reports: str | None,
    column: str,
    payments: str | None,
    money: float | None,
    gap_tolerance: float | None,
    model_file: str | None,
    data_file: str | None,
    seed: int | None,
    *,
    batch: bool,
    add: bool,
    as_json: bool,
) -> None:
    """Buy from the owners, under a valid certificate.

    Reads thresholds.csv and certificate.json of DIR, and reported valuations from --reports or
    --model; writes outcome.csv, and removes the files of later stages. In the folder of a market in
    parts --reports is a folder of Parquet, and private/outcome/ is written, part by part.
    """
    place = Path(folder)
    if lies_in_parts(place):
        paid = None if payments == POSTED.name else payments
        refused = {
            "payments": paid,
            "money": money,
            "batch": batch,
            "add": add,
            "data": data_file,
            "gap-tolerance": gap_tolerance,
        }
        procure_in_parts(place, reports, column, model_file, refused, seed=seed, as_json=as_json)
        return
    with quiet_stdout():
        certificate = load_certificate(place, gap_tolerance)
        if batch or add:
            names, reported, lottery = _batch(reports, column, model_file, data_file, seed)
            instance = None
        else:
            names = None
            budget = budget_in_hand(place, certificate.solution)
            instance, reported, lottery = _reports(
                certificate.solution, reports, column, model_file, data_file, seed, budget
            )
        with locate_errors(str(reports or model_file)):
            before = load_outcome(place, certificate) if add else None
            asked = POSTED.name if instance is None else instance.payments
            rule = payments or (asked if before is None else before.rule)
            lasting = rule == WHILE_IT_LASTS.name
            if lasting and money is None and instance is not None:
                money = instance.money
            earlier = before if lasting else None  # what it paid is spent
            outcome = buy(certificate, reported, rule, rng=lottery, owner_ids=names, after=earlier, money=money)
            if before is not None:
                outcome = join_outcomes([before, outcome])
        outcome.save(place / OUTCOME_FILE)
        removed = drop_later(place, OUTCOME_FILE)
    show(
        {
            "bought": outcome.bought,
            "n": outcome.population,
            "total_payment": outcome.total_payment,
            "rule": outcome.rule,
            "caveats": list(outcome.caveats),
            "owing": outcome.owing,
            "batches": int(outcome.batch.max()),
            "drawn": int(np.count_nonzero(outcome.drawn)),
            "budget": certificate.solution.budget,
            "money": outcome.money,
            "removed": removed,
        },
        [
            f"bought {outcome.bought} of {outcome.population} entries for {outcome.total_payment:.12g}",
            f"payments: {outcome.rule}: {outcome.meaning}",
            *(f"note: {caveat}" for caveat in outcome.caveats),
            f"written: {place / OUTCOME_FILE}",
            *(f"removed: {place / name}, of an earlier purchase" for name in removed),
        ],
        as_json=as_json,
    )


def _reports(
    solution: Solution,
    reports: str | None,
    column: str,
    model_file: str | None,
    data_file: str | None,
    seed: int | None,
    budget: float,
) -> tuple[Instance | None, NDArray[np.float64], np.random.Generator | None]:
    """Return the model, the reported valuations, and what draws the lotteries."""
    if (reports is None) == (model_file is None):
        raise InputError(
            "command line", "needs either --reports or --model", remedy="say where the reported valuations are"
        )
    if reports is None:
        instance = instance_of(str(model_file), solution, data_file, seed, budget)
        return instance, instance.require("reports"), instance.lottery
    if data_file is not None:
        raise InputError("command line", "--data belongs to --model", remedy="leave it out")
    lottery = None if seed is None else RandomStreams.from_seed(seed).lottery
    return None, read_by_owner(reports, column, solution.market.expand().owner_ids), lottery


def _batch(
    reports: str | None, column: str, model_file: str | None, data_file: str | None, seed: int | None
) -> tuple[list[str], NDArray[np.float64], np.random.Generator | None]:
    """Return the owners of a batch, their reports, and what draws the lotteries."""
    if reports is None or model_file is not None or data_file is not None:
        raise InputError("command line", "--batch and --add belong to --reports", remedy="give a table of reports")
    names, reported = read_batch(reports, column)
    return names, reported, None if seed is None else RandomStreams.from_seed(seed).lottery
