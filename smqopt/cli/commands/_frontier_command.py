"""`smqopt frontier`: purchased privacy against budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from smqopt.cli.outputs._figure_file import TABLE, check_tables_and_figures, write_figure
from smqopt.cli.terminal._options import AS_JSON, DATA, MODEL, SEED
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import Progress
from smqopt.cli.work._budgets import read_budgets
from smqopt.cli.work._frontier_points import frontier_lines
from smqopt.errors import InputError
from smqopt.files import to_json_number
from smqopt.market import PurchasedPrivacy
from smqopt.model_files import FrontierQuestion, locate_constraints, make_instance, read_model
from smqopt.questions import frontier as frontier_of
from smqopt.report import DrawnFrontier, frontier_figure
from smqopt.solvers import solve


@click.command()
@MODEL
@click.option(
    "--budgets",
    metavar="LIST",
    help="Budgets as 100,200,500, or evenly as FIRST:LAST:COUNT; by default those of the model's question, or 100 up to what buying from everybody costs.",
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

    The slope of purchased privacy V(B) is the budget price λ. Each row of the table holds V with a
    lower and an upper bound. With constraints every budget is solved and certified; where they
    cannot be paid for, the row's status is INFEASIBLE.
    """
    check_tables_and_figures(out)
    wanted = None if budgets is None else read_budgets(budgets)
    progress = Progress(2)
    with quiet_stdout():
        with progress.stage("read"):
            instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
        with progress.stage("solve"):
            model = instance.model
            if not isinstance(model.objective, PurchasedPrivacy):
                raise InputError(
                    model.written.where("objective"),
                    "has no frontier: that is one of purchased privacy",
                    remedy="solve the model at each budget",
                )
            asked = model.question.budgets if isinstance(model.question, FrontierQuestion) else None
            with locate_constraints(model.written, instance.market):
                found = frontier_of(instance.market, asked if wanted is None else wanted, constraints=model.constraints)
                solution = solve(instance.market, instance.budget, constraints=model.constraints)
        for file in out:
            if Path(file).suffix == TABLE:
                found.save(file)
            else:
                write_figure(frontier_figure(DrawnFrontier.of(found, solution)), file)
    show(
        {
            "budgets": found.budgets.tolist(),
            "purchased_privacy": _as_json(found.purchased_privacy),
            "budget_price": _as_json(found.budget_price),
            "lower_bound": _as_json(found.lower_bound),
            "upper_bound": _as_json(found.upper_bound),
            "status": found.status_names,
            "conflict": list(found.conflict),
            "gap": found.gap,
            "out": list(out),
        },
        [*frontier_lines(found), f"gap {found.gap:.2g}: {found.method}", *(f"written: {file}" for file in out)],
        as_json=as_json,
    )


def _as_json(values: NDArray[np.float64]) -> list[float | str]:
    return [to_json_number(value) for value in values.tolist()]
