"""`smqopt models`: the model library."""

from __future__ import annotations

import click

from smqopt.cli.library import model_files
from smqopt.cli.machine_output import show
from smqopt.cli.model import read_model

__all__ = ["models"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def models(*, as_json: bool) -> None:
    """List the model library."""
    found = [read_model(path) for path in model_files()]
    show(
        {"models": [{"name": model.path.stem, "title": model.title, "file": str(model.path)} for model in found]},
        [f"{model.path.stem}\n    {model.title}\n    {model.path}" for model in found],
        as_json=as_json,
    )
