"""`smqopt answer`: answer a query from the entries a folder bought."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource
from numpy.typing import NDArray

from smqopt.cli.outputs._answer_file import answer_lines, answer_to_dict
from smqopt.cli.outputs._folder import ANSWER_FILE, check_file, drop_later
from smqopt.cli.outputs._load import load_certificate, load_outcome
from smqopt.cli.outputs._owner_table import read_by_owner
from smqopt.cli.outputs._public_folder import write_public
from smqopt.cli.outputs._reserve import budget_in_hand
from smqopt.cli.terminal._options import AS_JSON, FOLDER, FROM_MODEL, GAP_TOLERANCE, LEDGER, NUMBER, SEED, SHARE
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.work._folder_instance import instance_of
from smqopt.cli.work._parts import answer_in_parts, lies_in_parts
from smqopt.errors import InputError, locate_errors
from smqopt.files import write_json
from smqopt.market import numbers
from smqopt.mechanism import Outcome
from smqopt.model_files import QUERIES, RandomStreams, make_query
from smqopt.query import ESTIMATORS, WEIGHTINGS, Answer, Ledger, PopulationQuery, answer as ask


@click.command()
@FOLDER
@click.option(
    "--data",
    "data_file",
    metavar="FILE",
    help="A CSV table with columns owner and data; with --model, its data set's original file.",
)
@click.option(
    "--column", default="data", show_default=True, metavar="NAME", help="The column of entries; `entry` in Parquet."
)
@click.option(
    "--query", "kind", type=click.Choice(list(QUERIES)), help="What to ask; with --model, the model's query by default."
)
@click.option("--low", type=NUMBER, metavar="X", help="The low end of the public range of entries.")
@click.option("--high", type=NUMBER, metavar="X", help="The high end of the public range of entries.")
@click.option("--p", type=NUMBER, metavar="X", help="Which quantile, in (0, 1].")
@click.option("--edges", metavar="LIST", help="The public edges of bins, as 0,18,65,120 (histograms).")
@click.option(
    "--weighting",
    type=click.Choice(list(WEIGHTINGS)),
    help="From the bought entries to the population (count, sum, mean); scaled by default.",
)
@click.option(
    "--estimator",
    type=click.Choice(list(ESTIMATORS)),
    help="The linear release or the P-E mechanism; by default that of the smaller error.",
)
@click.option("--step", type=NUMBER, metavar="X", help="The distance of candidates (sum, mean); fine by default.")
@click.option(
    "--clamp",
    is_flag=True,
    default=None,
    help="Take an entry out of the public range for the nearest end of it, instead of refusing it.",
)
@click.option(
    "--privacy",
    "privacy_file",
    metavar="FILE",
    help="Write what each owner bought was promised and the worst case of the release (CSV).",
)
@FROM_MODEL
@LEDGER
@SHARE
@SEED
@GAP_TOLERANCE
@AS_JSON
def answer(
    folder: str,
    data_file: str | None,
    column: str,
    kind: str | None,
    estimator: str | None,
    privacy_file: str | None,
    model_file: str | None,
    ledger_file: str | None,
    share: str,
    seed: int | None,
    gap_tolerance: float | None,
    *,
    as_json: bool,
    **parameters: Any,
) -> None:
    """Answer a query from the bought entries.

    Reads thresholds.csv, certificate.json and outcome.csv of DIR, and the entries of the owners who
    were bought from --data or --model; writes answer.json, and removes a report of an earlier
    answer. Without a seed the noise comes from the secure source of the system. With --ledger the
    owners are charged first, and the answer is refused if one of them has too little left. The
    charge is confirmed when answer.json is written; where that fails, the same command, given
    again, writes the same answer. In the folder of a market in parts --data is a folder of Parquet,
    and private/answer.json is written; of a release also public/release.json.
    """
    place = Path(folder)
    query = _query(kind, parameters)
    if lies_in_parts(place):
        refused = {"estimator": estimator, "privacy": privacy_file, "gap-tolerance": gap_tolerance}
        source = click.get_current_context().get_parameter_source("column")
        column = "entry" if source is ParameterSource.DEFAULT else column
        answer_in_parts(
            place, query, data_file, column, model_file, refused, seed=seed, ledger_file=ledger_file, share=share,
            as_json=as_json,
        )  # fmt: skip
        return
    if privacy_file is not None:
        check_file(privacy_file)
    with quiet_stdout():
        outcome = load_outcome(place, load_certificate(place, gap_tolerance))
        budget = budget_in_hand(place, outcome.certificate.solution)
        asked, data, noise, used_seed = _question(outcome, query, data_file, column, model_file, seed, budget)
        if privacy_file is not None and used_seed is not None:
            raise InputError(
                "option '--privacy'", "is for releases: a simulation protects nobody", remedy="leave out the seed"
            )
        ledger = None if ledger_file is None else Ledger(ledger_file)
        with locate_errors(str(model_file or data_file)):
            given = ask(
                asked,
                data,
                outcome,
                rng=noise,
                ledger=ledger,
                share=share,
                estimator=estimator,
                deliver=lambda one: _deliver(place, outcome, one, used_seed),
            )
        record = answer_to_dict(given, used_seed)
        if privacy_file is not None:
            given.privacy.save(privacy_file, outcome.bought_ids)
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


def _deliver(place: Path, outcome: Outcome, answer: Answer, seed: int | None) -> None:
    write_json(place / ANSWER_FILE, answer_to_dict(answer, seed))
    write_public(place, outcome.certificate.solution, answer)


def _query(kind: str | None, parameters: Mapping[str, Any]) -> PopulationQuery | None:
    given = {name: value for name, value in parameters.items() if value is not None}
    options = " and ".join(f"--{name}" for name in given)
    if kind is None:
        if given:
            raise InputError("command line", f"{options} belong to a --query", remedy="say what to ask")
        return None
    known = QUERIES[kind]
    out_of_reach = [name for name in known.required if name not in parameters]
    if out_of_reach:
        raise InputError(
            "command line",
            f"--query {kind} needs {' and '.join(out_of_reach)}",
            remedy="ask it by a model, with --model",
        )
    if not (set(known.required) <= set(given) <= set(known.parameters)):
        needs = " and ".join(f"--{name}" for name in known.required)
        may = " or ".join(f"--{name}" for name in known.optional)
        takes = (needs or "no other option") + (f", and may take {may}" if may else "")
        raise InputError(
            "command line", f"--query {kind} takes {takes}", value=sorted(given), remedy="correct the options"
        )
    return make_query(kind, **{name: _read(known.parameters[name], name, value) for name, value in given.items()})


def _read(how: str, name: str, value: Any) -> Any:
    if how == "numbers":
        return numbers(value.split(","), f"option '--{name}'").tolist()
    if how == "whole":
        if not float(value).is_integer():
            raise InputError(f"option '--{name}'", "must be a whole number", value=value, remedy="round it")
        return int(value)
    return value


def _question(
    outcome: Outcome,
    query: PopulationQuery | None,
    data_file: str | None,
    column: str,
    model_file: str | None,
    seed: int | None,
    budget: float,
) -> tuple[PopulationQuery, NDArray[np.float64], np.random.Generator | None, int | None]:
    """Return the query, the entries, the source of noise and the seed in force."""
    if model_file is not None:
        instance = instance_of(model_file, outcome.certificate.solution, data_file, seed, budget)
        asked = query if query is not None else instance.needed_query
        data = instance.require("data")[outcome.selected]
        noise, used_seed = instance.noise, instance.seed
    elif data_file is not None and query is not None:
        asked, data = query, read_by_owner(data_file, column, outcome.bought_ids)
        noise, used_seed = (None if seed is None else RandomStreams.from_seed(seed).noise), seed
    else:
        raise InputError(
            "command line", "needs --data and --query, or --model", remedy="say where the entries are, and what to ask"
        )
    return asked, data, noise, used_seed
