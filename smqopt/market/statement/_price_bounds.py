"""Indices whose allowed prices end inside a flat piece of their hull, as a market whose laws are ironed between these prices alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.numeric import Floats, Indices
from smqopt.valuation import (
    ByOwner,
    Discrete,
    Ironed,
    PiecewiseUniform,
    PiecewiseUniformByOwner,
    PriceBounded,
    PriceListed,
    Valuation,
    iron,
)


def confined_market(market: Market, records: Sequence[ConstraintRecord]) -> Market:
    """Give the market with the laws that floors and ceilings of prices make of its own; the market itself where none cuts a flat piece.

    It is exact for histograms and atoms; other laws stay as they are.
    """
    floor, ceiling = _bounds(market, records)
    parts, changed = list[tuple[Indices, Valuation]](), False
    for law, index in market.valuation.parts():
        rows = np.arange(market.n, dtype=np.intp)[index]
        cut = rows[_cut(law, floor[rows], ceiling[rows])]
        changed = changed or cut.size > 0
        whole = np.flatnonzero(~np.isin(rows, cut))
        if whole.size:
            parts.append((rows[whole], law.take(whole)))
        ends, number = np.unique(np.column_stack([floor[cut], ceiling[cut]]), axis=0, return_inverse=True)
        for k, (least, most) in enumerate(ends.tolist()):
            mine = cut[number.ravel() == k]
            part = law.take(np.searchsorted(rows, mine))
            parts.append((mine, _confined(part, least, most)))
    if not changed:
        return market
    whole_market = len(parts) == 1
    valuation = parts[0][1] if whole_market else ByOwner.from_parts([(rows.tolist(), law) for rows, law in parts])
    return Market(market.epsilon, valuation, groups=market.groups, multiplicity=market.multiplicity)


def _bounds(market: Market, records: Sequence[ConstraintRecord]) -> tuple[Floats, Floats]:
    """Give each owner's floor and ceiling, shape (n,) each."""
    floor, ceiling = np.zeros(market.n), np.full(market.n, np.inf)
    for record in records:
        for bounds in record.price_bounds(market):
            np.maximum.at(floor, bounds.owners, bounds.least)
            np.minimum.at(ceiling, bounds.owners, bounds.most)
    return floor, ceiling


def _cut(law: Valuation, floor: Floats, ceiling: Floats) -> NDArray[np.bool_]:
    """Say whose floor or ceiling lies inside a flat piece, or whose floor between two atoms; shape of `floor`."""
    known = isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner | Discrete)
    answer = iron(law) if known else law
    cut = np.zeros(floor.size, dtype=np.bool_)
    if not isinstance(answer, Ironed):
        return cut
    low, high = (np.broadcast_to(np.asarray(end), floor.shape) for end in (law.low, law.high))
    atoms = isinstance(law, Discrete)
    between = (floor > low) & (floor < high) & (law.pdf(floor) == 0)
    least = np.where(floor > low, law.cdf(np.clip(floor, low, high)), 0.0)
    most = np.where(ceiling >= low, law.cdf(np.clip(ceiling, low, high)), 0.0)
    for bound in (least, most):
        cut[answer.around(bound).owner] = True
    return np.asarray((cut | between) if atoms else cut & (least < most) & ~between)


def _confined(law: Valuation, floor: float, ceiling: float) -> Valuation:
    if isinstance(law, Discrete):
        values = law.values[(law.values > floor) & (law.values <= ceiling)]
        return PriceListed(law, np.concatenate([[floor], values]) if floor >= law.low else values)
    assert isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner)  # noqa: S101
    return PriceBounded(law, floor, ceiling)
