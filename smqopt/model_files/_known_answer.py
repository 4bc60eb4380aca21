"""The `[answer]` table of a model file: what a certificate has shown, to the digits that it has shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from smqopt.market import Status
from smqopt.model_files._schema import names_of
from smqopt.model_files.toml._file import WrittenFloat
from smqopt.model_files.toml._table import TomlTable

_NUMBERS = ("purchased_privacy", "objective_value", "budget_price", "budget")


@dataclass(frozen=True)
class StatedNumber:
    """A number, known to the last digit that is written."""

    text: str
    """As it stands in the file."""

    @property
    def ends(self) -> tuple[Decimal, Decimal]:
        """The numbers that round to it: half a unit of its last digit either way."""
        number = Decimal(self.text)
        exponent = number.as_tuple().exponent
        half = Decimal(0) if not isinstance(exponent, int) or number == 0 else Decimal(5).scaleb(exponent - 1)
        return number - half, number + half

    def agrees(self, lower: float, upper: float) -> bool:
        """Tell whether all numbers between two bounds round to it, give or take one unit of its last digit where a bound stands on a half."""
        least, most = self.ends
        slack = (most - least) / 1000
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return False
        return least - slack <= Decimal(lower) <= Decimal(upper) <= most + slack


@dataclass(frozen=True)
class StatedAnswer:
    """What the model's program comes to."""

    status: Status
    purchased_privacy: StatedNumber | None
    """V(B), in units of ε; None for another objective."""
    objective_value: StatedNumber | None
    """The optimum of another objective."""
    budget_price: StatedNumber | None
    """λ, privacy per unit of currency; None where V has a corner, or no digit is certified."""
    budget: StatedNumber | None
    """The least budget, in currency, where that was asked for."""


def read_answer(table: TomlTable) -> StatedAnswer:
    """Read the table.

    Raises
    ------
    InputError
        If a key is unknown, missing or bad.
    """
    table.refuse_unknown(names_of("answer"))
    return StatedAnswer(
        status=Status[table.choice("status", Status.__members__)],
        **{key: _number(table, key) if key in table else None for key in _NUMBERS},
    )


def _number(table: TomlTable, key: str) -> StatedNumber:
    table.number(key)
    given = table.content[key]
    return StatedNumber(given.text.replace("_", "") if isinstance(given, WrittenFloat) else str(given))
