"""`smqopt solve`: thresholds, unjudged."""

from __future__ import annotations

from pathlib import Path

import click

from smqopt.cli.outputs._facts import facts_of
from smqopt.cli.outputs._folder import check_folder, check_kept_folder, whole_folder
from smqopt.cli.outputs._reserve import RESERVE_FILE, reserve_lines
from smqopt.cli.terminal._options import AS_JSON, DATA, MODEL, OUT, RESERVE, SEED
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import Progress
from smqopt.cli.work._parts import solve_in_parts
from smqopt.cli.work._solve_model import solve_model
from smqopt.files import to_json_number, write_json
from smqopt.model_files import PartsOwners, make_instance, read_model


@click.command()
@MODEL
@OUT
@DATA
@RESERVE
@SEED
@AS_JSON
def solve(
    model_file: str, out: str, data_file: str | None, reserve: float | None, seed: int | None, *, as_json: bool
) -> None:
    """Find the thresholds of a model.

    Writes thresholds.csv and solution.json; `smqopt verify DIR` checks them. Where no thresholds
    satisfy all constraints nothing is written, and constraints that cannot hold together are named.
    With --reserve, reserve.json says what was held back.
    """
    check_kept_folder(out)
    model = read_model(model_file)
    if isinstance(model.owners, PartsOwners):
        solve_in_parts(model, out, {"reserve": reserve, "data": data_file, "seed": seed}, as_json=as_json)
        return
    check_folder(out)
    progress = Progress(2)
    with quiet_stdout():
        with progress.stage("read"):
            instance = make_instance(model, seed=seed, data_file=data_file)
        with progress.stage("solve"):
            solution, held = solve_model(instance, reserve)
        with whole_folder(out) as folder:
            solution.save(folder)
            if held is not None:
                write_json(folder / RESERVE_FILE, held.to_dict())
    facts, fact_lines = facts_of(solution)
    mean = ", as means over the laws" if "laws" in facts else ""
    show(
        {
            "status": solution.status.name,
            "budget": solution.budget,
            "budget_price": to_json_number(solution.budget_price),
            "purchased_privacy": solution.purchased_privacy,
            "spend": solution.total_spend,
            **facts,
            **({} if held is None else {"reserve": held.to_dict()}),
            "owners": solution.market.population,
            "out": str(Path(out)),
        },
        [
            f"{solution.status.name.lower().replace('_', ' ')}: {solution.status}",
            f"budget price {solution.budget_price:.12g}, spend {solution.total_spend:.12g} of {solution.budget:.12g}{mean}",
            *reserve_lines(held),
            f"purchased privacy {solution.purchased_privacy:.12g}{mean}, not verified yet",
            *fact_lines,
            f"written: {out}",
        ],
        as_json=as_json,
    )
