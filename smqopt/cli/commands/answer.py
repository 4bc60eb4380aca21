"""`smqopt answer`: answer a query from the entries a folder bought."""

from __future__ import annotations

from pathlib import Path

import click

from smqopt.cli.answer_record import answer_lines, answer_to_dict
from smqopt.cli.by_owner_table import read_by_owner
from smqopt.cli.certified_folder import load_certificate, load_outcome
from smqopt.cli.from_model import instance_of
from smqopt.cli.located import located
from smqopt.cli.machine_output import quiet_stdout, show
from smqopt.cli.options import AS_JSON, FOLDER, FROM_MODEL, SEED
from smqopt.cli.output_folder import ANSWER_FILE, drop_later
from smqopt.cli.query_choice import QUERIES, make_query
from smqopt.cli.random_streams import RandomStreams
from smqopt.errors import InputError
from smqopt.files import write_json
from smqopt.mechanism.outcome import Outcome
from smqopt.query.answer import Answer
from smqopt.query.answer import answer as ask
from smqopt.query.base import Query

__all__ = ["answer"]


@click.command()
@FOLDER
@click.option(
    "--data",
    "data_file",
    metavar="FILE",
    help="A CSV table with columns owner and data; with --model, its data set's original file.",
)
@click.option("--column", default="data", show_default=True, metavar="NAME", help="The column of entries.")
@click.option(
    "--query", "kind", type=click.Choice(list(QUERIES)), help="What to ask; with --model, the model's query by default."
)
@click.option("--low", type=int, metavar="N", help="The low end of the public range of entries (median).")
@click.option("--high", type=int, metavar="N", help="The high end of the public range of entries (median).")
@FROM_MODEL
@SEED
@AS_JSON
def answer(
    folder: str,
    data_file: str | None,
    column: str,
    kind: str | None,
    low: int | None,
    high: int | None,
    model_file: str | None,
    seed: int | None,
    *,
    as_json: bool,
) -> None:
    """Answer a query from the bought entries.

    Reads thresholds.csv, certificate.json and outcome.csv of DIR, and the entries of the owners who were bought from --data or --model;
    writes answer.json, and removes a report of an earlier answer. Without a seed the noise comes from the secure source of the system.
    """
    place = Path(folder)
    query = _query(kind, low, high)
    with quiet_stdout():
        outcome = load_outcome(place, load_certificate(place))
        given, used_seed = _ask(outcome, query, data_file, column, model_file, seed)
        record = answer_to_dict(given, used_seed)
        write_json(place / ANSWER_FILE, record)
        removed = drop_later(place, ANSWER_FILE)
    show(
        {**record, "removed": removed},
        [
            *answer_lines(record),
            f"written: {place / ANSWER_FILE}",
            *(f"removed: {place / name}, of an earlier answer" for name in removed),
        ],
        as_json=as_json,
    )


def _query(kind: str | None, low: int | None, high: int | None) -> Query | None:
    given = {name: value for name, value in (("low", low), ("high", high)) if value is not None}
    if kind is None:
        if given:
            raise InputError("command line", "--low and --high belong to --query median", remedy="give --query median")
        return None
    if set(given) != set(QUERIES[kind]):
        needs = " and ".join(f"--{name}" for name in QUERIES[kind]) or "no range"
        raise InputError(
            "command line", f"--query {kind} takes {needs}", value=sorted(given), remedy="mend the options"
        )
    return make_query(kind, **given)


def _ask(
    outcome: Outcome, query: Query | None, data_file: str | None, column: str, model_file: str | None, seed: int | None
) -> tuple[Answer, int | None]:
    """Answer, and say which seed was in force."""
    if model_file is not None:
        instance = instance_of(model_file, outcome.certificate.solution, data_file, seed)
        asked = query if query is not None else instance.needed_query
        data = instance.needed("data")[outcome.selected]
        noise, used_seed = instance.noise, instance.seed
    elif data_file is not None and query is not None:
        asked, data = query, read_by_owner(data_file, column, outcome.bought_ids)
        noise, used_seed = (None if seed is None else RandomStreams.from_seed(seed).noise), seed
    else:
        raise InputError(
            "command line", "needs --data and --query, or --model", remedy="say where the entries are, and what to ask"
        )
    with located(str(model_file or data_file)):
        return ask(asked, data, outcome, rng=noise), used_seed
