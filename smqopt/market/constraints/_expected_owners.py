"""A cap on how many owners sell, in expectation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from smqopt.market._group import GroupColumn, Labels
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import (
    ConstraintRecord,
    Row,
    Rows,
    checked_limit,
)


@dataclass(frozen=True)
class ExpectedOwners(ConstraintRecord):
    """At most so many owners sell in expectation.

    Σ m_i q_i ≤ at_most, over all owners or over a group.

    Parameters
    ----------
    column, label
        The group; all owners where none is named.
    at_most
        Expected number of owners, ≥ 0; it must be given.

    Raises
    ------
    InputError
        If the number is not finite and ≥ 0.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> few = smq.ExpectedOwners(at_most=0.8)
    >>> smq.solve(market, 0.5, constraints=[few]).acceptance.sum().round(6).item()
    0.8
    """

    kind: ClassVar[str] = "expected-owners"

    column: GroupColumn | None = None
    label: Labels | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_limit(self.at_most, self.where("at_most"))

    def describe(self) -> str:
        return f"at most {self.at_most:g} expected owners{self.of_whom}"

    def rows(self, market: Market) -> Rows:
        owners = self.members(market)
        yield Row(self.words, float(self.at_most or 0.0), acceptance=(owners, market.weights[owners]))
