"""Arguments and options that several commands share."""

from __future__ import annotations

import math
import re

import click

from smqopt.cli.terminal._completion import ModelFile
from smqopt.mechanism import PAYMENT_RULES
from smqopt.numeric import double_of


class _Number(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A finite number, its digits 0 to 9 without marks between them."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = double_of(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class _Whole(click.ParamType):  # type: ignore[type-arg]
    """A whole number from some number on."""

    name = "whole number"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        if re.fullmatch("[0-9]{1,40}", str(value)) is None or int(str(value)) < self.least:
            self.fail(f"{value!r} is not a whole number ≥ {self.least}", param, ctx)
        return int(str(value))


NUMBER = _Number()
WHOLE = _Whole(0)
POSITIVE = _Whole(1)
SEVERAL = _Whole(2)

MODEL = click.argument("model_file", metavar="MODEL", type=ModelFile())
FOLDER = click.argument("folder", metavar="DIR")
GAP_TOLERANCE = click.option(
    "--gap-tolerance",
    type=NUMBER,
    metavar="X",
    help="The largest gap to accept, relative to the bound, where one posted price each was asked for.",
)
OUT = click.option("--out", required=True, metavar="DIR", help="The folder to write; it appears whole or not at all.")
FROM_MODEL = click.option(
    "--model",
    "model_file",
    metavar="FILE",
    type=ModelFile(),
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
    type=WHOLE,
    help="Draw with this seed, not the model's: a simulation, not a private release.",
)
PAYMENTS = click.option(
    "--payments",
    type=click.Choice(list(PAYMENT_RULES)),
    help="How owners are paid: posted, unless the model's question says another.",
)
MONEY = click.option(
    "--money",
    type=NUMBER,
    metavar="B",
    help="With while-it-lasts: what all batches together may spend; the model's, or else the budget.",
)
RESERVE = click.option(
    "--reserve",
    type=NUMBER,
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
COMPARED = click.option(
    "--compare",
    type=click.Choice(["auto", "yes", "no"]),
    default="auto",
    show_default=True,
    help="Solve anew by the conic program and compare; by default where the market is small.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
