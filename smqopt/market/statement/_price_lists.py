"""Owners whose prices must be on lists, as a market whose laws are rounded up to the lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.numeric import Floats
from smqopt.valuation import ByOwner, PriceListed, Valuation


def listed_market(market: Market, records: Sequence[ConstraintRecord]) -> Market:
    """Give the market with the laws that price lists make of its own; the market itself where there is no list.

    An owner on two lists gets prices that are on both. A ceiling on her price shortens her list.
    """
    number, lists = price_lists(market, records)
    if not lists:
        return market
    parts: list[tuple[NDArray[np.intp], Valuation]] = []
    for law, index in market.valuation.parts():
        rows = np.arange(market.n, dtype=np.intp)[index]
        of_rows = number[rows]
        for k in np.unique(of_rows).tolist():
            mine = np.flatnonzero(of_rows == k)
            part = law.take(mine)
            parts.append((rows[mine], part if k < 0 else PriceListed(part, lists[k])))
    whole = len(parts) == 1
    valuation = parts[0][1] if whole else ByOwner.from_parts([(rows.tolist(), part) for rows, part in parts])
    return Market(market.epsilon, valuation, groups=market.groups, multiplicity=market.multiplicity)


def on_lists(market: Market, records: Sequence[ConstraintRecord]) -> NDArray[np.bool_]:
    """Say whose prices must be on a list, shape (n,)."""
    return np.asarray(price_lists(market, records)[0] >= 0)


def price_lists(market: Market, records: Sequence[ConstraintRecord]) -> tuple[NDArray[np.intp], list[Floats]]:
    """Give the number of each owner's list, −1 where there is none, and the lists."""
    number, lists = np.full(market.n, -1, dtype=np.intp), list[Floats]()
    for record in records:
        listed = record.price_list(market)
        if listed is not None:
            owners, prices = listed
            _narrow(number, lists, owners, prices)
    for record in records if lists else ():
        for bounds in record.price_bounds(market):
            most = np.broadcast_to(np.asarray(bounds.most, dtype=np.float64), bounds.owners.shape)
            for ceiling in np.unique(most[np.isfinite(most)]).tolist():
                owners = bounds.owners[(most == ceiling) & (number[bounds.owners] >= 0)]
                _shorten(number, lists, owners, ceiling)
    return number, lists


def _narrow(number: NDArray[np.intp], lists: list[Floats], owners: NDArray[np.intp], prices: Floats) -> None:
    for k in np.unique(number[owners]).tolist():
        lists.append(prices if k < 0 else np.intersect1d(lists[k], prices))
        number[owners[number[owners] == k]] = len(lists) - 1


def _shorten(number: NDArray[np.intp], lists: list[Floats], owners: NDArray[np.intp], ceiling: float) -> None:
    for k in np.unique(number[owners]).tolist():
        if np.any(lists[k] > ceiling):
            lists.append(lists[k][lists[k] <= ceiling])
            number[owners[number[owners] == k]] = len(lists) - 1
