"""The kinds of constraint records, and records read from data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smqopt.market._record_entries import read_entries
from smqopt.market.constraints._acceptance_bounds import AcceptanceBounds
from smqopt.market.constraints._acceptance_range import AcceptanceRange
from smqopt.market.constraints._common_price import CommonPrice
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.market.constraints._coverage import Coverage
from smqopt.market.constraints._expected_owners import ExpectedOwners
from smqopt.market.constraints._from_cvxpy import StatedInCvxpy
from smqopt.market.constraints._group_budget import GroupBudget
from smqopt.market.constraints._linear_row import LinearRow
from smqopt.market.constraints._parity import Parity
from smqopt.market.constraints._price_menu import PriceMenu
from smqopt.market.constraints._price_range import PriceRange

KINDS: dict[str, type[ConstraintRecord]] = {
    record.kind: record
    for record in (
        Coverage,
        Parity,
        GroupBudget,
        PriceRange,
        AcceptanceRange,
        ExpectedOwners,
        CommonPrice,
        PriceMenu,
        LinearRow,
        AcceptanceBounds,
    )
}
"""By what model files call them."""
_RECORDED: dict[str, type[ConstraintRecord]] = {**KINDS, StatedInCvxpy.kind: StatedInCvxpy}
"""What solutions may carry beside."""


def constraint_from_dict(
    content: Mapping[str, Any], where: str = "constraint", *, of_solution: bool = False
) -> ConstraintRecord:
    """Rebuild a record from `to_dict`'s data.

    That of a solution may be one stated in cvxpy.

    Raises
    ------
    InputError
        If the kind or a key is unknown, a key is missing, or a value is bad.
    """
    kind, given = read_entries(content, _RECORDED if of_solution else KINDS, where, "coverage")
    return kind(**{key: _value(value) for key, value in given.items()})


def _value(value: Any) -> Any:
    """Return arrays as tuples: records are immutable."""
    return tuple(_value(entry) for entry in value) if isinstance(value, list) else value
