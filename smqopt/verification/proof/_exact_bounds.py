"""Bounds that records put on single owners, as the exact numbers named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Statement
from smqopt.numeric import Floats


@dataclass(frozen=True, eq=False)
class ExactBounds:
    """Bounds for the n′ rows of a statement; shape (n′,) each."""

    least: Floats
    """Of acceptance; 0 where there is none."""
    most: Floats
    """1 where there is none."""
    floor: Floats
    """Of the price, in currency; 0 where there is none."""
    ceiling: Floats
    """+∞ where there is none; the top of a list is one, −∞ where nothing on it is of use."""
    listed: NDArray[np.intp]
    """The number of the list that prices must be on; −1 where there is none."""
    lists: tuple[Floats, ...]
    """The lists, increasing, in currency."""

    @property
    def of_acceptance(self) -> NDArray[np.bool_]:
        """Where acceptance is bounded, by itself or by a price; shape (n′,)."""
        return (self.least > 0) | (self.most < 1) | (self.floor > 0) | (self.ceiling < np.inf)


def exact_bounds(statement: Statement) -> ExactBounds:
    """Collect the bounds of a statement's records.

    Rigid rows are bounds of 0 or 1: of acceptance, or of the price where nothing may be paid.
    """
    market, of = statement.market, statement.row_of_owner
    n = statement.reduced.n
    first = statement.first_owner
    allowed = statement.prices_of_use()
    least, most, floor, ceiling = np.zeros(n), np.ones(n), allowed.floor[first], allowed.ceiling[first]
    for record in statement.records:
        for bounds in record.acceptance_bounds(market):
            _tighten(least, most, bounds.owners if of is None else of[bounds.owners], bounds.least, bounds.most)
    fixed = statement.fixed
    least[fixed.surely], most[fixed.unsold] = 1.0, 0.0
    ceiling[fixed.unpaid] = np.minimum(ceiling[fixed.unpaid], 0.0)
    listed = allowed.number[first]
    for k, prices in enumerate(allowed.lists):
        mine = np.flatnonzero(listed == k)
        place = np.minimum(np.searchsorted(prices, market.high[first[mine]]), prices.size - 1)
        top = prices[place] if prices.size else np.full(mine.size, -np.inf)  # the first above a support buys all
        ceiling[mine] = np.minimum(ceiling[mine], top)
    return ExactBounds(least, most, floor, ceiling, listed, allowed.lists)


def _tighten(
    lowest: Floats, highest: Floats, rows: NDArray[np.intp], least: float | Floats, most: float | Floats
) -> None:
    np.maximum.at(lowest, rows, least)
    np.minimum.at(highest, rows, most)
