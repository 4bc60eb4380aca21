"""The number of a side constraint that can be moved as a budget can."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smqopt.errors import InputError
from smqopt.market import ConstraintRecord, LinearRow, Market
from smqopt.numeric import Floats

_TIMES = np.linspace(0.25, 2.0, 8)
"""The limits that are solved for, as multiples of the record's own, which is among them."""
_TRIED = 1.5


@dataclass(frozen=True, eq=False)
class MovableLimit:
    """A number that stands in the limits of linear rows and nowhere else.

    V is concave in budget and limit together, as both are right-hand sides.
    """

    records: tuple[ConstraintRecord, ...]
    place: int
    """Of the record among them."""
    field: str
    values: Floats
    """Increasing, shape (m,)."""
    own: int
    """Which of the values is the record's."""
    slopes: Floats
    """By how much each linear row's limit rises with the number, shape (k,)."""

    @property
    def words(self) -> str:
        """The record whose number is moved, in words."""
        return self.records[self.place].words

    def at(self, value: float) -> tuple[ConstraintRecord, ...]:
        """Return the records with this limit."""
        return _replace_limit(self.records, self.place, self.field, value)


def movable_limit(market: Market, records: Sequence[ConstraintRecord]) -> MovableLimit | None:
    """Find the first number of the records that can be moved, or None."""
    records = tuple(records)
    for place, record in enumerate(records):
        for entry in dataclasses.fields(record):
            value = getattr(record, entry.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < np.inf:
                continue
            slopes = _slopes(market, records, place, entry.name, float(value))
            if slopes is None:
                continue
            values = np.array([one for one in _TIMES * value if _is_allowed(records, place, entry.name, float(one))])
            own = int(np.argmin(abs(values - value)))
            values[own] = value
            return MovableLimit(records, place, entry.name, values, own, slopes)
    return None


def _slopes(
    market: Market, records: tuple[ConstraintRecord, ...], place: int, field: str, value: float
) -> Floats | None:
    """Return how the rows' limits rise; None where anything else changes."""
    other = value * _TRIED if _is_allowed(records, place, field, value * _TRIED) else value / _TRIED
    if not _is_allowed(records, place, field, other) or isinstance(records[place], LinearRow):
        return None
    there = _replace_limit(records, place, field, other)
    here, rows = ([row for one in each for row in one.rows(market)] for each in (records, there))
    stated = [
        list(one.acceptance_bounds(market)) + list(one.price_bounds(market)) for one in (records[place], there[place])
    ]
    if len(here) != len(rows) or any(stated) or records[place].price_list(market) is not None:
        return None
    for one, two in zip(here, rows, strict=True):
        same = one.equal == two.equal and not (one.leaves_nothing or two.leaves_nothing)
        parts = zip((*one.acceptance, *one.spend), (*two.acceptance, *two.spend), strict=True)
        if not same or not all(np.array_equal(a, b) for a, b in parts):
            return None
    slopes = np.array([(two.at_most - one.at_most) / (other - value) for one, two in zip(here, rows, strict=True)])
    return slopes if slopes.any() else None


def _replace_limit(
    records: tuple[ConstraintRecord, ...], place: int, field: str, value: float
) -> tuple[ConstraintRecord, ...]:
    change: dict[str, Any] = {field: value}
    return (*records[:place], dataclasses.replace(records[place], **change), *records[place + 1 :])


def _is_allowed(records: tuple[ConstraintRecord, ...], place: int, field: str, value: float) -> bool:
    try:
        _replace_limit(records, place, field, value)
    except InputError:
        return False
    return True
