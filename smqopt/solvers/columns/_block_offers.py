"""From shares of posted prices to offers and lotteries."""

from __future__ import annotations

import numpy as np

from smqopt.market import Blocks, Lottery, Market, Offers, Statement
from smqopt.numeric import Floats, Indices, Mask

NEAR = 2.0**-12
"""Relative distance of prices that are next to each other."""
_SURE = 2.0**-34
"""Shares that miss 1 by less come to it; smaller ones are none."""


def offers_with_blocks(
    statement: Statement, singles: Offers, rows: Indices, lots: tuple[Indices, Floats, Floats]
) -> Offers:
    """Make the offers to the owners of a market.

    `singles` are offers to the rows on their own, `rows`; `lots` what `posted_lots` gives.
    """
    blocks, market = statement.blocks, statement.market
    assert blocks is not None  # noqa: S101
    row_of_owner = np.arange(market.n, dtype=np.intp) if statement.row_of_owner is None else statement.row_of_owner
    place = np.full(statement.reduced.n, -1, dtype=np.intp)
    place[rows] = np.arange(rows.size)
    thresholds, q = market.low.copy(), np.zeros(market.n)
    alone = np.flatnonzero(place[row_of_owner] >= 0)
    mine = place[row_of_owner[alone]]
    q[alone] = singles.acceptance[mine]
    thresholds[alone] = np.where(q[alone] > 0, singles.thresholds[mine], market.low[alone])
    drawn = [] if singles.lottery is None else [_spread(singles.lottery, alone, mine, rows.size)]
    block = blocks.of_row[row_of_owner]
    posted = np.flatnonzero(block >= 0)
    price, share = _table(blocks, *lots)
    drawn.append(_draws(market, posted, price[block[posted]], share[block[posted]], thresholds, q))
    lottery = _join([one for one in drawn if len(one)])
    if lottery is not None:
        thresholds[lottery.owner], q[lottery.owner] = lottery.low, lottery.acceptance
    return Offers(thresholds, q, lottery)


def posted_lots(
    blocks: Blocks,
    group: Indices,
    price: Floats,
    share: Floats,
    unit: Floats | float = 1.0,
    near: float = NEAR,
) -> tuple[Indices, Floats, Floats]:
    """Return block, price and probability of what is posted, by block and price.

    Next to no share, in its unit, is none, next to all is all, and prices that are `near` are one.
    """
    kept = share > _SURE * unit
    group, price, share = group[kept], price[kept], share[kept]
    order = np.lexsort((price, group))
    group, price, share = _merge(blocks, group[order], price[order], share[order], near)
    total = np.bincount(group, weights=share, minlength=blocks.count)
    sure = np.abs(total - 1.0) < _SURE
    missing = np.where(sure | (total > 1), 1.0 - total, 0.0)
    first = np.unique(group, return_index=True)[1]  # the lowest price of each, which the fewest accept
    bears = share[first] + missing[group[first]] > 0
    share[first[bears]] += missing[group[first[bears]]]
    scale = np.where(missing != 0, 1.0 / np.where(total > 0, total, 1.0), 1.0)
    scale[group[first[bears]]] = 1.0
    share = share * scale[group]
    alone = (np.bincount(group, minlength=blocks.count) == 1) & sure
    return group, price, np.where(alone[group], 1.0, share)


def _table(blocks: Blocks, group: Indices, price: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return prices and shares as rows, increasing; shape (G, K) each."""
    number = np.arange(group.size) - np.searchsorted(group, group)
    width = int(number.max(initial=0)) + 1
    prices, shares = np.full((blocks.count, width), -np.inf), np.zeros((blocks.count, width))
    prices[group, number], shares[group, number] = price, share
    return np.maximum.accumulate(prices, axis=1), shares


def _merge(
    blocks: Blocks, group: Indices, price: Floats, share: Floats, distance: float
) -> tuple[Indices, Floats, Floats]:
    """Post one price in place of two next to each other.

    Columns on both sides of a smooth top mix; between them nothing is to be drawn. What changes is
    of the order of their distance squared.
    """
    near = (group[1:] == group[:-1]) & (price[1:] - price[:-1] <= distance * price[1:])
    at = np.flatnonzero(near & (price[1:] > price[:-1]))
    near[at] = blocks.is_smooth(group[at], price[at], price[at + 1])
    return join_lots(near, group, price, share)


def join_lots(one: Mask, group: Indices, price: Floats, share: Floats) -> tuple[Indices, Floats, Floats]:
    """Post the mean price of lots that are one with the next; equal prices stay."""
    number = np.cumsum(np.append(0, ~one)) if group.size else np.zeros(0, dtype=np.intp)
    total = np.bincount(number, weights=share).astype(np.float64)
    first = np.unique(number, return_index=True)[1]
    apart = (total > 0) & (price[first] < np.maximum.reduceat(price, first) if first.size else total > 0)
    mean = np.bincount(number, weights=share * price) / np.where(total > 0, total, 1.0)
    return group[first], np.where(apart, mean, price[first]), total


def _draws(market: Market, owners: Indices, prices: Floats, shares: Floats, thresholds: Floats, q: Floats) -> Lottery:
    """Write down what is posted for sure; return the lotteries of the others."""
    acceptances = np.column_stack([_chance_of_sale(market, owners, column) for column in prices.T])
    nothing = np.clip(1.0 - shares.sum(axis=1), 0.0, 1.0)
    nothing[nothing < _SURE] = 0.0
    asked = acceptances.max(axis=1) > 0
    sure: Mask = asked & (nothing == 0) & (shares[:, 0] > 0) & (np.count_nonzero(shares, axis=1) == 1)
    thresholds[owners[sure]], q[owners[sure]] = prices[sure, 0], acceptances[sure, 0]
    at = np.flatnonzero(asked & ~sure & (q[owners] == 0))
    low = market.low[owners[at]]
    shown = np.where(acceptances[at] > 0, prices[at], low[:, np.newaxis])
    columns = (
        np.column_stack([low, shown]),
        np.column_stack([np.zeros(at.size), acceptances[at]]),
        np.column_stack([nothing[at], shares[at]]),
    )
    every = bool(np.any(nothing[at] > 0)) or prices.shape[1] == 1
    return Lottery(owners[at], *(column if every else column[:, 1:] for column in columns))


def _chance_of_sale(market: Market, owners: Indices, price: Floats) -> Floats:
    """Return F at a price for each owner; 0 below her support, 1 above it."""
    low, high = market.low[owners], market.high[owners]
    q = market.valuation.take(owners).cdf(np.clip(price, low, high))
    return np.where(price < low, 0.0, np.where(price >= high, 1.0, q))


def _spread(lottery: Lottery, owners: Indices, place: Indices, count: int) -> Lottery:
    number = np.full(count, -1, dtype=np.intp)
    number[lottery.owner] = np.arange(len(lottery))
    at = np.flatnonzero(number[place] >= 0)
    return lottery.take(number[place[at]], owners[at])


def _join(lotteries: list[Lottery]) -> Lottery | None:
    """Put lotteries together, by owner; the last price fills short rows."""
    if not lotteries:
        return None
    width = max(one.prices.shape[1] for one in lotteries)

    def wide(values: Floats, *, again: bool) -> Floats:
        more = width - values.shape[1]
        last = values[:, -1:] if again else np.zeros((values.shape[0], 1))
        return np.hstack([values, *[last] * more])

    owner = np.concatenate([one.owner for one in lotteries])
    order = np.argsort(owner, kind="stable")
    columns = (
        np.vstack([wide(getattr(one, name), again=name != "probabilities") for one in lotteries])[order]
        for name in ("prices", "acceptances", "probabilities")
    )
    return Lottery(owner[order], *columns)
