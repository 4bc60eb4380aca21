"""`smqopt explore`: a page on which the budget can be moved."""

from __future__ import annotations

import click
import numpy as np

from smqopt.cli.outputs._folder import check_files
from smqopt.cli.terminal._options import AS_JSON, DATA, MODEL, NUMBER, SEED
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import Progress
from smqopt.cli.work._prior import entry_prior
from smqopt.cli.work._solve_model import require_lotteries
from smqopt.errors import InputError
from smqopt.files import write_text
from smqopt.market import PurchasedPrivacy
from smqopt.model_files import Instance, locate_constraints, make_instance, read_model
from smqopt.query import Prediction, predict_from
from smqopt.questions import AtBudgets, CertifiedGrid, certified_grid, movable_limit
from smqopt.report import Explored
from smqopt.valuation import possible_laws

_KNOTS, _KNOTS_IN_TWO = 25, 13
"""Budgets that are solved; fewer where a limit is moved too."""


@click.command()
@MODEL
@click.option("--out", required=True, metavar="FILE", help="The page to write, .html.")
@click.option("--share", type=NUMBER, metavar="P", help="Assume that a share P of the entries is 1, the others 0.")
@click.option(
    "--assume",
    "assume_file",
    metavar="FILE",
    help="Assume the entries follow this CSV table, columns value and weight.",
)
@DATA
@SEED
@AS_JSON
def explore(
    model_file: str,
    out: str,
    share: float | None,
    assume_file: str | None,
    data_file: str | None,
    seed: int | None,
    *,
    as_json: bool,
) -> None:
    """Write a page on which the budget can be moved over the certified frontier.

    The page holds all it needs and is complete without its script. At each solved budget it shows
    what is certified; between them the interval in which purchased privacy is proved to lie. Where
    a side constraint has a number that can be moved, such as the owners of a group to be covered, a
    second slider moves it. The error of the model's query is predicted, and marked so.
    """
    check_files([out], (".html",))
    from smqopt.report import explorer_page  # noqa: PLC0415 -- comes with an extra, and is missed before the work

    progress = Progress(3)
    with quiet_stdout():
        with progress.stage("read"):
            instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
            model = instance.model
            if not isinstance(model.objective, PurchasedPrivacy):
                raise InputError(
                    model.written.where("objective"),
                    "has no frontier: that is one of purchased privacy",
                    remedy="solve the model at each budget",
                )
        with progress.stage("solve"), locate_constraints(model.written, instance.market):
            grid = _solved_grid(instance)
        with progress.stage("write"):
            own = int(np.flatnonzero(grid.budgets == instance.budget)[0])
            predictions = _predictions(instance, grid, share, assume_file)
            write_text(out, explorer_page(Explored(model.title, grid, own, predictions)))
    solved = [one for row in grid.certificates for one in row]
    certified = sum(one is not None for one in solved)
    show(
        {"budgets": grid.budgets.tolist(), "limits": grid.limits.tolist(), "certified": certified, "out": out},
        [f"{certified} of {len(solved)} points solved and certified", f"written: {out}"],
        as_json=as_json,
    )


def _solved_grid(instance: Instance) -> CertifiedGrid:
    """Solve budgets up to the largest, closer where V is steep, and the model's own."""
    require_lotteries(instance, "an explorer")
    market, records = instance.market, tuple(instance.model.constraints)
    limit = movable_limit(market, records)
    most = AtBudgets(market, records).most if records else market.most_that_can_be_spent
    if not max(most, instance.budget) > 0:
        raise InputError("model", "has nothing to buy at any budget", remedy="give requirements above 0")
    count = _KNOTS if limit is None else _KNOTS_IN_TWO
    budgets = max(most, instance.budget) * (np.arange(count) / (count - 1)) ** 2
    if instance.budget not in budgets:
        nearest = 1 + int(np.argmin(abs(budgets[1:-1] - instance.budget)))
        budgets[nearest] = instance.budget
    grid = certified_grid(market, records, np.unique(budgets), limit)
    if not any(one is not None for row in grid.certificates for one in row):
        raise InputError("constraints", "leave no thresholds at any budget", remedy="loosen them")
    return grid


def _predictions(
    instance: Instance, grid: CertifiedGrid, share: float | None, assume_file: str | None
) -> tuple[Prediction | None, ...]:
    """Predict the error of the model's query wherever thresholds are certified."""
    query = instance.query
    if query is None:
        if share is not None or assume_file is not None:
            raise InputError("command line", "--share and --assume need a query", remedy="add one to the model")
        return ()
    if possible_laws(instance.market.valuation) is not None:
        if share is not None or assume_file is not None:
            raise InputError(
                "command line",
                "--share and --assume are for predictions, which need one law",
                remedy="explore the model under one of its laws",
            )
        return ()
    prior = entry_prior(query, share, assume_file)
    found: list[Prediction | None] = []
    for row in grid.certificates:
        solved = [one.solution for one in row if one is not None and one.solution.budget > 0]
        found.append(predict_from(query, solved, prior) if solved else None)
    return tuple(found)
