"""`smqopt predict`: the error of the answer against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from smqopt.cli.outputs._figure_file import TABLE, check_tables_and_figures, write_figure
from smqopt.cli.terminal._options import AS_JSON, DATA, MODEL, NUMBER, SEED
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import Progress
from smqopt.cli.work._budgets import read_budgets
from smqopt.cli.work._prior import entry_prior
from smqopt.cli.work._solve_model import require_lotteries
from smqopt.document import column
from smqopt.files import to_json_number
from smqopt.model_files import make_instance, read_model
from smqopt.query import Prediction, predict as predicted
from smqopt.report import prediction_figure

_BUDGETS = 20
_LINES = 10


@click.command()
@MODEL
@click.option(
    "--budgets",
    metavar="LIST",
    help="Budgets as 100,200,500, or evenly as FIRST:LAST:COUNT; by default 20 up to what buying from everybody costs.",
)
@click.option("--share", type=NUMBER, metavar="P", help="Assume that a share P of the entries is 1, the others 0.")
@click.option(
    "--assume",
    "assume_file",
    metavar="FILE",
    help="Assume the entries follow this CSV table, columns value and weight.",
)
@click.option(
    "--out",
    multiple=True,
    metavar="FILE",
    help="Write the table (.csv) or the figure (.svg; .png with the extra 'plot'); may be repeated.",
)
@DATA
@SEED
@AS_JSON
def predict(
    model_file: str,
    budgets: str | None,
    share: float | None,
    assume_file: str | None,
    out: Sequence[str],
    data_file: str | None,
    seed: int | None,
    *,
    as_json: bool,
) -> None:
    """Predict the error of the answer at each budget, before buying.

    The error is split into sampling and noise. Looks at requirements, laws and ranges, and at what
    is assumed of the entries; never at an entry. By default half the entries are assumed to lie at
    each end of their range (count, sum, mean), or all values to be equally likely (quantiles,
    histograms).
    """
    check_tables_and_figures(out)
    wanted = None if budgets is None else read_budgets(budgets)
    progress = Progress(2)
    with quiet_stdout():
        with progress.stage("read"):
            instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
            query = instance.needed_query
            assumption = entry_prior(query, share, assume_file)
            if wanted is None:
                wanted = instance.market.most_that_can_be_spent * np.arange(1, _BUDGETS + 1) / _BUDGETS
        with progress.stage("predict"):
            require_lotteries(instance, "predictions")
            model = instance.model
            found = predicted(
                query,
                instance.market,
                wanted,
                assumption,
                objective=model.objective,
                constraints=model.constraints,
            )
        for file in out:
            if Path(file).suffix == TABLE:
                found.save(file)
            else:
                write_figure(prediction_figure(found), file)
    names = ("budgets", "bought", "total", "sampling", "noise")
    show(
        {
            "query": found.query,
            "assumption": found.assumption,
            "unit": found.unit,
            **{name: [to_json_number(one) for one in getattr(found, name).tolist()] for name in names},
            "out": list(out),
        },
        [*_lines(found), f"RMSE in {found.unit}. Assumed: {found.assumption}", *(f"written: {file}" for file in out)],
        as_json=as_json,
    )


def _lines(found: Prediction) -> list[str]:
    """Lay out some of the rows, first and last among them."""
    rows = np.unique(np.linspace(0, found.budgets.size - 1, _LINES).round().astype(np.intp))
    columns = [
        [name, *column(values[rows].tolist(), 5)]
        for name, values in (
            ("budget", found.budgets),
            ("bought", found.bought),
            ("RMSE", found.total),
            ("sampling", found.sampling),
            ("noise", found.noise),
        )
    ]
    widths = [max(len(cell) for cell in cells) for cells in columns]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    ]
