"""The number of a side constraint that can be moved as a budget can."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smqopt.errors import InputError
from smqopt.market import ConstraintRecord, LinearRow, Market, Row
from smqopt.numeric import Floats

_TIMES = np.linspace(0.25, 2.0, 8)
"""The limits that are solved for, as multiples of the record's own, which is among them."""
_FROM_ZERO = np.array([0.0, *2.0 ** np.arange(-7, 0)])
"""Those of a rate that is 0: from equal to half."""
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
    """By how much each linear row's limit rises with the number above 0, shape (k,)."""
    slopes_at_zero: Floats | None = None
    """The same of the equations that stand for pairs of rows where the number is 0, shape (j,)."""

    @property
    def words(self) -> str:
        """The record whose number is moved, in words."""
        return self.records[self.place].words

    def at(self, value: float) -> tuple[ConstraintRecord, ...]:
        """Return the records with this limit."""
        return _replace_limit(self.records, self.place, self.field, value)

    def slope(self, value: float, prices: Floats) -> float:
        """Return the slope of V's upper bound in the number; NaN for prices of other rows.

        An equation a q = 0 stands for |a q| ≤ 0: its price, of either sign, is paid on one side.
        """
        slopes = self.slopes if value or self.slopes_at_zero is None else self.slopes_at_zero
        paid = prices if slopes is self.slopes else abs(prices)
        return math.fsum((paid * slopes).tolist()) if prices.shape == slopes.shape else math.nan


def movable_limit(market: Market, records: Sequence[ConstraintRecord]) -> MovableLimit | None:
    """Find the first number of the records that can be moved, or None."""
    records = tuple(records)
    for place, record in enumerate(records):
        for entry in dataclasses.fields(record):
            value = getattr(record, entry.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < np.inf:
                continue
            if value == 0:
                found = _from_zero(market, records, place, entry.name)
                if found is not None:
                    return found
                continue
            slopes = _slopes(market, records, place, entry.name, float(value))
            if slopes is None:
                continue
            values = np.array([one for one in _TIMES * value if _is_allowed(records, place, entry.name, float(one))])
            own = int(np.argmin(abs(values - value)))
            values[own] = value
            return MovableLimit(records, place, entry.name, values, own, slopes)
    return None


def _from_zero(market: Market, records: tuple[ConstraintRecord, ...], place: int, field: str) -> MovableLimit | None:
    """Move a rate that is 0, where the record states equations; None elsewhere."""
    most = float(_FROM_ZERO[-1])
    if not _is_allowed(records, place, field, most) or isinstance(records[place], LinearRow):
        return None
    above = _replace_limit(records, place, field, most)
    slopes = _slopes(market, above, place, field, most)
    equations, pairs = list(records[place].rows(market)), list(above[place].rows(market))
    if slopes is None or not equations or not all(row.equal and row.at_most == 0 for row in equations):
        return None
    before = sum(len(list(one.rows(market))) for one in records[:place])
    after = sum(len(list(one.rows(market))) for one in records[place + 1 :])
    own = slopes[before : before + len(pairs)]
    if not all(own == own[0]) or not all(any(_is_alike(row, pair) for pair in pairs) for row in equations):
        return None
    at_zero = np.concatenate([np.zeros(before), np.full(len(equations), own[0]), np.zeros(after)])
    return MovableLimit(records, place, field, _FROM_ZERO, 0, slopes, at_zero)


def _is_alike(one: Row, two: Row) -> bool:
    """Whether two rows add up the same."""
    parts = zip((*one.acceptance, *one.spend), (*two.acceptance, *two.spend), strict=True)
    return all(np.array_equal(a, b) for a, b in parts)


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
        if not same or not _is_alike(one, two):
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
