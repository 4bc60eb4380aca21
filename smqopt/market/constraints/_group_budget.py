"""A budget of its own for a group."""

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
class GroupBudget(ConstraintRecord):
    """The expected payments to a group stay within a budget.

    Σ_{i in group} m_i b_i ≤ at_most.

    Parameters
    ----------
    column, label
        The group, named as for `Coverage`.
    at_most
        In currency, ≥ 0; it must be given.

    Raises
    ------
    InputError
        If the amount is not finite and ≥ 0.

    Examples
    --------
    >>> import smqopt as smq
    >>> cities = ["Oslo", "Oslo", "Bergen"]
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), groups={"city": cities})
    >>> limit = smq.GroupBudget("city", "Bergen", at_most=0.2)
    >>> smq.solve(market, 0.5, constraints=[limit]).spend.round(3).tolist()
    [0.041, 0.259, 0.2]
    """

    kind: ClassVar[str] = "group-budget"

    column: GroupColumn
    label: Labels | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_limit(self.at_most, self.where("at_most"))

    def describe(self) -> str:
        return f"at most {self.at_most:g} spent on {self.of_whom.removeprefix(' of ')}"

    def rows(self, market: Market) -> Rows:
        owners = self.members(market)
        yield Row(self.words, float(self.at_most or 0.0), spend=(owners, market.weights[owners]))
