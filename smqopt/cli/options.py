"""Arguments and options that several commands share."""

from __future__ import annotations

import click

__all__ = ["AS_JSON", "DATA", "FOLDER", "FROM_MODEL", "MODEL", "OUT", "SEED"]

MODEL = click.argument("model_file", metavar="MODEL")
FOLDER = click.argument("folder", metavar="DIR")
OUT = click.option("--out", required=True, metavar="DIR", help="The folder to write; it appears whole or not at all.")
FROM_MODEL = click.option(
    "--model",
    "model_file",
    metavar="FILE",
    help="Take what the owners report and hold from this model, a file or a name of the library.",
)
DATA = click.option(
    "--data",
    "data_file",
    metavar="FILE",
    help="The original file of the model's data set (for Adult: adult.data, also .gz).",
)
SEED = click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Draw with this seed, not the model's: a simulation, not a private release.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
