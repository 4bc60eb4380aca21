"""A budget of its own for a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import (
    ConstraintRecord,
    Row,
    Rows,
    checked_limit,
)


@dataclass(frozen=True)
class GroupBudget(ConstraintRecord):
    """The expected payments to a group stay within a budget.

    Σ_{i in group} m_i b_i ≤ at_most.

    Parameters
    ----------
    column, label
        The group: owners whose label in the market's group column is `label`.
    at_most
        In currency, ≥ 0.

    Raises
    ------
    InputError
        If the amount is not finite and ≥ 0.
    """

    kind: ClassVar[str] = "group-budget"

    column: str
    label: str | int
    at_most: float

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_limit(self.at_most, self.where("at_most"))

    def describe(self) -> str:
        return f"at most {self.at_most:g} spent on {self.column} = {self.label}"

    def rows(self, market: Market) -> Rows:
        owners = self.members(market, self.column, self.label)
        yield Row(self.words, float(self.at_most), spend=(owners, market.weights[owners]))
