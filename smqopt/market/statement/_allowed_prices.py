"""Which prices may be posted to each owner, and the market under these alone.

Any price may be posted, above a support too: F is 1 there, and the price is paid. No offer is
always allowed, but where an acceptance floor forbids it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.numeric import Floats, Indices, Mask
from smqopt.valuation import (
    ByOwner,
    Discrete,
    Ironed,
    PiecewiseUniform,
    PiecewiseUniformByOwner,
    PriceBounded,
    PriceFloored,
    PriceListed,
    Valuation,
    iron,
)


@dataclass(frozen=True, eq=False)
class AllowedPrices:
    """The prices that n owners may be offered; shape (n,) each."""

    floor: Floats
    """In currency; 0 where there is none, or a list."""
    ceiling: Floats
    """+∞ where there is none, or a list."""
    number: Indices
    """The number of each owner's list; −1 where there is none."""
    lists: tuple[Floats, ...]
    """Increasing, in currency, within the floors and ceilings of the owners on them; may be
    empty."""


def allowed_prices(market: Market, records: Sequence[ConstraintRecord], shared: Indices | None = None) -> AllowedPrices:
    """Collect what records say of prices.

    An owner on two lists gets prices that are on both; floors and ceilings shorten her list. A
    floor at the top of a support or above, or at the ceiling, leaves one price that is of use, the
    floor: a list of one, unless rows may ask for more spend. Owners who share a price, numbered
    alike, share their lists, floors and ceilings, and the highest of their supports' tops.
    """
    floor, ceiling = np.zeros(market.n), np.full(market.n, np.inf)
    number, lists = np.full(market.n, -1, dtype=np.intp), list[Floats]()
    for record in records:
        for bounds in record.price_bounds(market):
            np.maximum.at(floor, bounds.owners, bounds.least)
            np.minimum.at(ceiling, bounds.owners, bounds.most)
        listed = record.price_list(market)
        if listed is not None:
            owners, prices = listed
            for k in np.unique(number[owners]).tolist():
                lists.append(prices if k < 0 else np.intersect1d(lists[k], prices))
                number[owners[number[owners] == k]] = len(lists) - 1
    top = market.high
    if shared is not None:
        floor, ceiling = _by_row(np.maximum, floor, shared), _by_row(np.minimum, ceiling, shared)
        top = _by_row(np.maximum, top, shared)
        _share_lists(number, lists, shared)
    alone = np.flatnonzero((number < 0) & (floor > 0) & ((floor >= top) | (floor == ceiling)))
    if alone.size:
        alone = np.setdiff1d(alone, _paid_more(market, records, shared))
    bounded = np.flatnonzero((number >= 0) & ((floor > 0) | (ceiling < np.inf)))
    rows = np.concatenate([alone, bounded])
    ends = np.column_stack([number[rows], floor[rows], ceiling[rows]])
    kinds, which = np.unique(ends, axis=0, return_inverse=True)
    for kind, (k, least, most) in enumerate(kinds.tolist()):
        prices = np.array([least]) if k < 0 else lists[int(k)]
        lists.append(prices[(prices >= least) & (prices <= most)])
        number[rows[which.ravel() == kind]] = len(lists) - 1
    floor[number >= 0], ceiling[number >= 0] = 0.0, np.inf
    return AllowedPrices(floor, ceiling, number, tuple(lists))


def _paid_more(market: Market, records: Sequence[ConstraintRecord], shared: Indices | None) -> Indices:
    """Return whom rows may ask for more spend, and who shares their price."""
    found = np.zeros(market.n, dtype=np.bool_)
    for record in records:
        for row in record.rows(market):
            found[row.raised] = True
    return np.flatnonzero(found if shared is None else (np.bincount(shared, weights=found) > 0)[shared])


def _share_lists(number: Indices, lists: list[Floats], shared: Indices) -> None:
    """Put all who share a price on the prices that all their lists have."""
    listed = np.flatnonzero(number >= 0)
    pairs = np.unique(np.column_stack([shared[listed], number[listed]]), axis=0)
    of_group = np.full(int(shared.max()) + 1, -1, dtype=np.intp)
    for group, k in pairs.tolist():
        known = of_group[group]
        if known >= 0:
            lists.append(np.intersect1d(lists[known], lists[k]))
        of_group[group] = len(lists) - 1 if known >= 0 else k
    number[:] = of_group[shared]


def _by_row(extreme: np.ufunc, bound: Floats, row_of_owner: Indices) -> Floats:
    found = bound[np.unique(row_of_owner, return_index=True)[1]]
    extreme.at(found, row_of_owner, bound)
    return np.asarray(found[row_of_owner])


def allowed_market(market: Market, allowed: AllowedPrices, in_blocks: Mask) -> Market:
    """Return the market with laws that know what may be posted.

    The market itself where all may, or all others are in blocks.

    Laws that are neither histograms nor atoms keep their hull below a ceiling.
    """
    parts, changed = list[tuple[Indices, Valuation]](), False
    for law, index in market.valuation.parts():
        rows = np.arange(market.n, dtype=np.intp)[index]
        listed, cut = (allowed.number[rows] >= 0) & ~in_blocks[rows], np.zeros(rows.size, dtype=np.bool_)
        free = ~listed & ~in_blocks[rows]
        cut[free] = _needs_bounds(
            law.take(np.flatnonzero(free)), allowed.floor[rows[free]], allowed.ceiling[rows[free]]
        )
        whole = np.flatnonzero(~listed & ~cut)
        changed = changed or whole.size < rows.size
        if whole.size:
            parts.append((rows[whole], law.take(whole)))
        for k in np.unique(allowed.number[rows[listed]]).tolist():
            mine = np.flatnonzero(listed & (allowed.number[rows] == k))
            parts.append((rows[mine], PriceListed(law.take(mine), allowed.lists[k])))
        at = np.flatnonzero(cut)
        ends = np.column_stack([allowed.floor[rows[at]], allowed.ceiling[rows[at]]])
        kinds, which = np.unique(ends, axis=0, return_inverse=True)
        for kind, (floor, ceiling) in enumerate(kinds.tolist()):
            mine = at[which.ravel() == kind]
            parts.append((rows[mine], _bound_prices(law.take(mine), floor, ceiling)))
    if not changed:
        return market
    valuation = parts[0][1] if len(parts) == 1 else ByOwner.from_parts([(rows.tolist(), law) for rows, law in parts])
    return Market(market.epsilon, valuation, groups=market.groups, multiplicity=market.multiplicity)


def without_hull(market: Market, allowed: AllowedPrices) -> Mask:
    """Say whose allowed prices have a hull without a form of its own; shape (n,).

    A bound inside a flat piece of an ironed curve of a law that is no histogram and has no atoms,
    or a floor in a gap of the support, where acceptance does not tell it from a lower price.
    """
    found = np.zeros(market.n, dtype=np.bool_)
    bounded = (allowed.number < 0) & ((allowed.floor > market.low) | (allowed.ceiling < market.high))
    if not bounded.any():
        return found
    for law, index in market.valuation.parts():
        rows = np.arange(market.n, dtype=np.intp)[index]
        at = np.flatnonzero(bounded[rows])
        own, floor, ceiling = law.take(at), allowed.floor[rows[at]], allowed.ceiling[rows[at]]
        if not at.size:
            continue
        low, high = (np.broadcast_to(np.asarray(end), at.shape) for end in (own.low, own.high))
        least, most = (np.where(end >= low, own.cdf(np.clip(end, low, high)), 0.0) for end in (floor, ceiling))
        inside = (floor > low) & (floor < high)
        if isinstance(law, Discrete):
            continue
        strange = inside & (least > 0) & _in_gap(own, floor, least, most)
        if not isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner):
            strange |= _cut_above(own, floor, np.where(inside & (ceiling < high), ceiling, np.inf))
            answer = iron(own)
            if isinstance(answer, Ironed):
                for bound in (np.where(inside, least, 0.0), most):
                    strange[answer.around(bound).owner] = True
        found[rows[at]] = strange & (ceiling >= low)
    return found


def price_floors(law: Valuation, n: int) -> Floats:
    """Return the floors of prices inside supports, 0 where there is none; shape (n,)."""
    found = np.zeros(n)
    for part, index in law.parts():
        found[index] = part.floor if isinstance(part, PriceFloored | PriceBounded) else 0.0
    return found


def _in_gap(law: Valuation, floor: Floats, least: Floats, most: Floats) -> Mask:
    """Say whose floor lies in a gap of the support, its upper end included.

    Of histograms also its lower end, and every floor whose ceiling buys no more: F is flat between.
    """
    below, above = (law.pdf(np.clip(np.nextafter(floor, end), law.low, law.high)) == 0 for end in (-np.inf, np.inf))
    if isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner):
        return np.asarray(below | above | (least >= most))
    return np.asarray(below & (law.ppf(least) < floor))


def _cut_above(law: Valuation, floor: Floats, ceiling: Floats) -> Mask:
    """Say whose ceiling cuts a flat piece of the hull above her floor."""
    found = np.zeros(floor.size, dtype=np.bool_)
    cut = np.flatnonzero(ceiling < np.inf)
    kinds, which = np.unique(np.column_stack([floor[cut], ceiling[cut]]), axis=0, return_inverse=True)
    for kind, (least, most) in enumerate(kinds.tolist()):
        mine = cut[which.ravel() == kind]
        own = law.take(mine)
        if np.any(own.cdf(np.full(mine.size, least)) > 0):
            answer = iron(PriceFloored(own, least))
            if isinstance(answer, Ironed):
                found[mine[answer.around(own.cdf(np.full(mine.size, most))).owner]] = True
    return found


def _needs_bounds(law: Valuation, floor: Floats, ceiling: Floats) -> Mask:
    """Return whose floor is inside the support, or whose ceiling in a flat piece.

    Shape of `floor`.
    """
    if not floor.size:
        return np.zeros(0, dtype=np.bool_)
    low, high = (np.broadcast_to(np.asarray(end), floor.shape) for end in (law.low, law.high))
    inside = (floor > low) & (floor < high)
    if not isinstance(law, Discrete | PiecewiseUniform | PiecewiseUniformByOwner):
        at = np.flatnonzero(inside)
        if at.size:
            own, floor, ceiling = law.take(at), floor[at], ceiling[at]
            least, most = (own.cdf(np.clip(end, low[at], high[at])) for end in (floor, ceiling))
            inside[at] = (least > 0) & ~_in_gap(own, floor, least, most)  # in a block where somebody sells below
        return np.asarray(inside)
    least, most = (np.where(at >= low, law.cdf(np.clip(at, low, high)), 0.0) for at in (floor, ceiling))
    if isinstance(law, Discrete):
        answer = iron(law)
        if isinstance(answer, Ironed):
            inside[answer.around(most).owner] = True
        return inside
    gap = inside & _in_gap(law, floor, least, most)  # in a block where somebody sells below
    answer = iron(law)
    if isinstance(answer, Ironed):
        inside[answer.around(most).owner] = True
    return np.asarray(inside & ~gap & (least < most))


def _bound_prices(law: Valuation, floor: float, ceiling: float) -> Valuation:
    if isinstance(law, Discrete):
        values = law.values[(law.values > floor) & (law.values <= ceiling)]
        return PriceListed(law, np.concatenate([[floor], values]) if law.low <= floor <= ceiling else values)
    if isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner):
        return PriceBounded(law, floor, min(ceiling, float(np.max(law.high))))
    return PriceFloored(law, floor)
