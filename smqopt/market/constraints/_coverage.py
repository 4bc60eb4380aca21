"""Coverage: enough owners of a group sell, in expectation."""

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
class Coverage(ConstraintRecord):
    """At least so many owners of a group sell in expectation.

    Σ_{i in group} m_i q_i ≥ at_least.

    Parameters
    ----------
    column, label
        The group: owners whose label in the market's group column is `label`.
    at_least
        Expected number of owners, ≥ 0.

    Raises
    ------
    InputError
        If the number is not finite and ≥ 0.

    Examples
    --------
    >>> Coverage("city", "Oslo", at_least=40).words
    'at least 40 expected owners of city = Oslo'
    """

    kind: ClassVar[str] = "coverage"

    column: str
    label: str | int
    at_least: float

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_limit(self.at_least, self.where("at_least"))

    def describe(self) -> str:
        return f"at least {self.at_least:g} expected owners{self.of_whom}"

    def rows(self, market: Market) -> Rows:
        owners = self.members(market, self.column, self.label)
        yield Row(self.words, -float(self.at_least), acceptance=(owners, -market.weights[owners]))
