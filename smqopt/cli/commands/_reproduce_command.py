"""`smqopt reproduce`: the paper's experiments, and what its claims come to."""

from __future__ import annotations

import io
import os
from pathlib import Path

import click

from smqopt.cli.outputs._folder import check_files, check_kept_folder
from smqopt.cli.terminal._options import AS_JSON, POSITIVE, SEVERAL, WHOLE
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import work_progress
from smqopt.errors import InputError
from smqopt.files import write_bytes
from smqopt.paper import DATA_SETS, FIGURES, QUICK_TRIALS, TRIALS, Plan, Results, Store, condense, run, write_page

PAGE = "reproduction.md"
TABLES = "reproduction"
PARQUET = "results.parquet"
SEED = 2020


@click.command()
@click.option(
    "--data",
    "data_folder",
    metavar="DIR",
    help="The folder with Adult, MovieLens 1M and RECS 2009; by default the variable SMQOPT_DATA says.",
)
@click.option("--quick", is_flag=True, help=f"{QUICK_TRIALS} trials a setup: every figure, in two minutes.")
@click.option("--trials", type=SEVERAL, help=f"Trials a setup; by default {TRIALS}, as in the paper.")
@click.option(
    "--processes",
    type=POSITIVE,
    help="How many work at a time; by default one a processor. The numbers are the same.",
)
@click.option("--seed", type=WHOLE, default=SEED, show_default=True, help="Of all randomness.")
@click.option(
    "--out",
    default="reproduction-out",
    show_default=True,
    metavar="DIR",
    help="Keeps the trials, the results and the page; a run that was stopped goes on from there.",
)
@click.option(
    "--page",
    metavar="FILE.md",
    help="Run nothing: write the page from the results in --out into this file, figures beside it.",
)
@click.option("--parquet", is_flag=True, help="Write the results as Parquet too; needs the extra 'tables'.")
@AS_JSON
def reproduce(
    data_folder: str | None,
    trials: int | None,
    processes: int | None,
    seed: int,
    out: str,
    page: str | None,
    *,
    quick: bool,
    parquet: bool,
    as_json: bool,
) -> None:
    """Run the paper's experiments, and check its claims.

    The data sets are Adult, RECS 2009 and MovieLens 1M. Writes into DIR: the trials, by which a
    stopped run goes on; reproduction/ with the results, one row a setup, and the figures; and
    reproduction.md, the page with every claim and its verdict. Aggregates only: no record of any
    data set.
    """
    folder = Path(out)
    if page is not None:
        check_files([page], (".md",), option="--page")
        results = Results.load(folder / TABLES)
        target = Path(page)
        write_page(results, target)
    else:
        if quick and trials is not None:
            raise InputError(
                "option '--trials'", "does not go with --quick", value=trials, remedy="give one of the two"
            )
        plan = Plan(QUICK_TRIALS if quick else trials or TRIALS, seed)
        columns = _columnar() if parquet else None
        check_kept_folder(folder)
        with quiet_stdout():
            populations = {key: load(data_folder) for key, load in DATA_SETS.items()}
            store = Store(folder)
            run(plan, populations, store, processes or os.cpu_count() or 1, work_progress())
            condense(plan, populations, store).save(folder / TABLES)
        results = Results.load(folder / TABLES)
        target = folder / PAGE
        write_page(results, target)
        if columns is not None:
            _write_parquet(columns, results, folder / TABLES / PARQUET)
    figures = [str(target.with_suffix("") / f"{name}.svg") for name in FIGURES]
    show(
        {
            "trials": results.trials,
            "setups": len(results.setups),
            "page": str(target),
            "results": str(target.with_suffix("") / Results.SETUPS_FILE),
            "figures": figures,
        },
        [
            f"{len(results.setups):,} setups of {results.trials} trials",
            f"results: {target.with_suffix('') / Results.SETUPS_FILE}",
            *(f"figure: {figure}" for figure in figures),
            f"page: {target}",
        ],
        as_json=as_json,
    )


def _columnar() -> object:
    """Find the library that writes Parquet before any work is done."""
    try:
        import polars as pl  # noqa: PLC0415 - an extra, not loaded before it is asked for
    except ModuleNotFoundError as error:
        raise InputError(
            "option '--parquet'",
            "needs the extra 'tables'",
            value=f"no module {error.name}",
            remedy='run pip install "smqopt[tables]"',
        ) from error
    return pl


def _write_parquet(polars: object, results: Results, path: Path) -> None:
    buffer = io.BytesIO()
    frame = getattr(polars, "DataFrame")([vars(setup) for setup in results.setups.values()])  # noqa: B009 -- an optional module
    frame.write_parquet(buffer)
    write_bytes(path, buffer.getvalue())
