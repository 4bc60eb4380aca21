"""Arguments and options that several commands share."""

from __future__ import annotations

import click

from smqopt.mechanism import PAYMENT_RULES, POSTED

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
PAYMENTS = click.option(
    "--payments",
    type=click.Choice(list(PAYMENT_RULES)),
    default=POSTED.name,
    show_default=True,
    help="How owners are paid.",
)
RESERVE = click.option(
    "--reserve",
    type=float,
    metavar="P",
    help="Hold back so much of the budget that posted payments exceed it with probability at most P.",
)
LEDGER = click.option(
    "--ledger",
    "ledger_file",
    metavar="FILE",
    help="Charge the release to this ledger, before it is drawn; the file is made where it is not there.",
)
SHARE = click.option(
    "--share",
    default="1",
    show_default=True,
    metavar="S",
    help="The share of every requirement to spend, as 1/3 or 0.25.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
