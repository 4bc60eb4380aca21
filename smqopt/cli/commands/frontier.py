"""`smqopt frontier`: purchased privacy against budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from smqopt.cli.budget_list import read_budgets
from smqopt.cli.instance import make_instance
from smqopt.cli.machine_output import quiet_stdout, show
from smqopt.cli.model import read_model
from smqopt.cli.options import AS_JSON, DATA, MODEL, SEED
from smqopt.cli.progress import Progress
from smqopt.document.number_format import column
from smqopt.errors import InputError
from smqopt.files import to_json_number, write_text
from smqopt.program.solution import Solution
from smqopt.questions.curve import Frontier
from smqopt.questions.frontier import frontier as frontier_of
from smqopt.report.frontier import DrawnFrontier, frontier_figure
from smqopt.solvers.solve import solve

__all__ = ["frontier"]

_TABLE, _FIGURE = ".csv", ".svg"
_LINES = 10


@click.command()
@MODEL
@click.option(
    "--budgets",
    metavar="LIST",
    help="Budgets as 100,200,500, or evenly as FIRST:LAST:COUNT; by default 100 up to what buying from everybody costs.",
)
@click.option(
    "--out",
    multiple=True,
    metavar="FILE",
    help="Write the table (.csv) or the figure (.svg); may be repeated.",
)
@DATA
@SEED
@AS_JSON
def frontier(
    model_file: str,
    budgets: str | None,
    out: Sequence[str],
    data_file: str | None,
    seed: int | None,
    *,
    as_json: bool,
) -> None:
    """Show what each budget would buy, as a table and a figure.

    The slope of purchased privacy V(B) is the budget price λ. Each row of the table holds V with a lower and an upper bound.
    """
    for file in out:
        if Path(file).suffix not in (_TABLE, _FIGURE):
            raise InputError("option '--out'", f"must end in {_TABLE} or {_FIGURE}", value=file, remedy="rename it")
    wanted = None if budgets is None else read_budgets(budgets)
    progress = Progress(2)
    with quiet_stdout():
        with progress.stage("read"):
            instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
        with progress.stage("solve"):
            if instance.model.constraints:
                raise InputError(
                    f"{model_file}: key 'constraint'",
                    "is not covered by the frontier, which is that of OP2 alone",
                    remedy="solve the model at each budget, or leave the constraints out",
                )
            found = frontier_of(instance.market, wanted)
            solution = solve(instance.market, instance.model.budget)
        for file in out:
            if Path(file).suffix == _TABLE:
                found.save(file)
            else:
                write_text(file, frontier_figure(_drawn(found, solution)).standalone())
    show(
        {
            "budgets": found.budgets.tolist(),
            "purchased_privacy": found.purchased_privacy.tolist(),
            "budget_price": [to_json_number(price) for price in found.budget_price.tolist()],
            "lower_bound": found.lower_bound.tolist(),
            "upper_bound": found.upper_bound.tolist(),
            "gap": found.gap,
            "out": list(out),
        },
        [*_lines(found), f"gap {found.gap:.2g}: {found.method}", *(f"written: {file}" for file in out)],
        as_json=as_json,
    )


def _drawn(found: Frontier, solution: Solution) -> DrawnFrontier:
    return DrawnFrontier(
        budgets=found.budgets,
        privacy=found.purchased_privacy,
        prices=found.budget_price,
        budget=solution.budget,
        reached=solution.purchased_privacy,
        price=solution.budget_price,
    )


def _lines(found: Frontier) -> list[str]:
    """Lay out some of the rows, first and last among them."""
    rows = np.unique(np.linspace(0, found.budgets.size - 1, _LINES).round().astype(np.intp))
    columns = [
        [name, *column(values[rows].tolist(), 6)]
        for name, values in (
            ("budget", found.budgets),
            ("purchased privacy", found.purchased_privacy),
            ("budget price", found.budget_price),
        )
    ]
    widths = [max(len(cell) for cell in cells) for cells in columns]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    ]
