"""A least and a greatest acceptance probability for single owners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Bounds, ConstraintRecord, checked_limit


@dataclass(frozen=True)
class AcceptanceRange(ConstraintRecord):
    """Every owner, or every one of a group, sells with a probability in a range.

    From `at_least` to `at_most`.

    Parameters
    ----------
    at_least, at_most
        Probabilities.
    column, label
        The group; all owners where none is named.

    Raises
    ------
    InputError
        If a probability is outside [0, 1], or the least exceeds the greatest.
    """

    kind: ClassVar[str] = "acceptance-range"

    at_least: float = 0.0
    at_most: float = 1.0
    column: str | None = None
    label: str | int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        least = checked_limit(self.at_least, self.where("at_least"), most=1.0)
        most = checked_limit(self.at_most, self.where("at_most"), most=1.0)
        if least > most:
            raise InputError(self.where("at_least"), f"must be at most {most:g}", value=least, remedy="swap the two")

    def describe(self) -> str:
        return f"every owner{self.of_whom} sells with probability {self.at_least:g} to {self.at_most:g}"

    def acceptance_bounds(self, market: Market) -> Iterator[Bounds]:
        owners = self.members(market, self.column, self.label)
        yield Bounds(self.words, owners, float(self.at_least), float(self.at_most))
