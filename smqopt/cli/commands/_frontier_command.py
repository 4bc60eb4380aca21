"""`smqopt frontier`: purchased privacy, or the error, against budget."""

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
from smqopt.cli.work._frontier_points import error_lines, errors_at, frontier_lines
from smqopt.cli.work._solve_model import require_lotteries
from smqopt.errors import InputError
from smqopt.files import to_json_number
from smqopt.market import MeanSquaredError, PurchasedPrivacy
from smqopt.model_files import FrontierQuestion, locate_constraints, make_instance, read_model
from smqopt.questions import ErrorFrontier, frontier as frontier_of
from smqopt.report import DrawnFrontier, frontier_figure
from smqopt.solvers import solve


@click.command()
@MODEL
@click.option(
    "--budgets",
    metavar="LIST",
    help="Budgets as 100,200,500, or evenly as FIRST:LAST:COUNT; by default those of the model's question, or 100 (20 of errors) up to the most.",
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
    cannot be paid for, the row's status is INFEASIBLE. Where the objective is the mean squared
    error, it is the least error at each budget.
    """
    check_tables_and_figures(out)
    wanted = None if budgets is None else read_budgets(budgets)
    progress = Progress(2)
    with quiet_stdout():
        with progress.stage("read"):
            instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
        with progress.stage("solve"):
            require_lotteries(instance, "a frontier")
            model = instance.model
            if not isinstance(model.objective, PurchasedPrivacy | MeanSquaredError):
                raise InputError(
                    model.written.where("objective"),
                    "has no frontier: that is one of purchased privacy or of the error",
                    remedy="solve the model at each budget",
                )
            asked = model.question.budgets if isinstance(model.question, FrontierQuestion) else None
            at = asked if wanted is None else wanted
            with locate_constraints(model.written, instance.market):
                if isinstance(model.objective, MeanSquaredError):
                    errors = errors_at(instance.market, at, model.objective, model.constraints)
                else:
                    found = frontier_of(instance.market, at, constraints=model.constraints)
                    solution = solve(instance.market, instance.budget, constraints=model.constraints)
        of_error = isinstance(model.objective, MeanSquaredError)
        for file in out:
            if Path(file).suffix == TABLE:
                (errors if of_error else found).save(file)
            else:
                write_figure(errors.figure() if of_error else frontier_figure(DrawnFrontier.of(found, solution)), file)
    if of_error:
        _show_errors(errors, out, as_json=as_json)
        return
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


def _show_errors(found: ErrorFrontier, out: Sequence[str], *, as_json: bool) -> None:
    names = ("budgets", "error", "error_bound", "tau")
    record = {name: _as_json(getattr(found, name)) for name in names}
    lines = [*error_lines(found), "RMSE of the linear release, at the expected sums"]
    show({**record, "out": list(out)}, [*lines, *(f"written: {file}" for file in out)], as_json=as_json)


def _as_json(values: NDArray[np.float64]) -> list[float | str]:
    return [to_json_number(value) for value in values.tolist()]
