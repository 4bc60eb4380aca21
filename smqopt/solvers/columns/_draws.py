"""One posted price in place of neighbours, and draws between doubles."""

from __future__ import annotations

import dataclasses

import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.solvers.columns._block_offers import NEAR, posted_lots
from smqopt.solvers.columns._column_answers import GOOD, Found
from smqopt.solvers.columns._column_search import ColumnSearch

_COARSE, BESIDE = 2.0**-46, (2.0**-48, 2.0**-44, 2.0**-40, 2.0**-36)
"""Active rows that are missed by less, relative to their sizes, are met; how far from one price,
relatively, those may lie that are drawn in its place, the first ones that do."""

_LIFTS = 2.0**-44, 2.0**-40, 2.0**-37
"""By what prices of rows are raised, relatively."""
SURE = 2.0**-22
"""Shares of a block that miss 1 by less come to it: HiGHS may keep rows to 1e-7 alone."""


def merge(search: ColumnSearch, found: Found, near: float = NEAR) -> Found:
    """Post one price in place of neighbours."""
    unit = search.shares(search.blocks.uses(found.group, found.price)[1].T)
    return _posting(found, posted_lots(search.blocks.blocks, found.group, found.price, found.share, unit, near))


def draw(search: ColumnSearch, found: Found) -> Found:
    """Draw between doubles next to each other where one price misses rows.

    With the value of what is posted. Neighbours stay where one price in their place breaks rows.
    """
    active, merged = np.flatnonzero(found.z), merge(search, found)

    def miss(other: Found) -> float:
        return float(np.max(np.abs(search.left(other) / search.sizes)[active], initial=0.0))

    def rank(other: Found) -> tuple[bool, float]:
        return not search.keeps(other), miss(other)

    one = start = min(merged, _shift(search, active, merged), key=rank)
    for beside in BESIDE:
        if miss(one) <= _COARSE:
            break
        one = min(one, _draw_between(search, active, start, beside), key=rank)
    one = one if search.keeps(one) else min(one, merge(search, found, 0.0), key=rank)
    return _lift(search, dataclasses.replace(one, lower=search.value(one)))


def _lift(search: ColumnSearch, found: Found) -> Found:
    """Raise prices of rows that all use a little, where that bounds more nearly.

    It costs as much of their limits, and what blocks gain falls by as much of all that they use,
    which is far more where money is short.
    """
    worth = search.slopes(found)
    if search.singles.rows.size or not np.isfinite(worth).all() or not found.group.size:
        return found
    best, tie, enough = found, search.tie(found.z, worth), GOOD * abs(found.upper)
    if tie is not None:  # small shares alone: what certificates allow for roundings is much
        best, enough = dataclasses.replace(found, upper=np.inf), _LIFTS[1] * abs(found.upper)
    for more in (near + lift for near in (0.0, tie or 0.0) for lift in _LIFTS):
        if best.upper - best.lower <= enough:
            break
        one = search.bounds(dataclasses.replace(found, z=search.lift_prices(found.z, more)))
        best = min(best, one, key=lambda each: each.upper)
    return best


def _shift(search: ColumnSearch, active: Indices, found: Found) -> Found:
    """Move shares a little, so that active rows are met: what is drawn ties.

    To and from no offer, or the largest share of a block that surely gets one.
    """
    group, share = found.group, found.share
    sure = np.bincount(group, weights=share, minlength=search.blocks.count) > 1.0 - SURE
    order = np.lexsort((share, group))
    largest = np.zeros(sure.size, dtype=np.intp)
    largest[group[order]] = order
    uses = search.blocks.uses(group, found.price)[1][:, active] / search.sizes[active]
    room = np.where(sure[group], share, np.minimum(share, 1.0 - share))[:, np.newaxis]
    way = (uses - np.where(sure[group, np.newaxis], uses[largest[group]], 0.0)) * room
    moved = room[:, 0] * np.linalg.lstsq(way.T, search.left(found)[active] / search.sizes[active], rcond=None)[0]
    kept = np.flatnonzero(sure[group] & (largest[group] == np.arange(group.size)))
    moved[kept] = 0.0
    moved[kept] = -np.bincount(group, weights=moved, minlength=sure.size)[group[kept]]
    return dataclasses.replace(found, share=np.clip(share + moved, 0.0, 1.0))


def _draw_between(search: ColumnSearch, active: Indices, found: Found, beside: float) -> Found:
    """Draw between the prices beside each one, so that active rows are met."""
    group, price, share = found.group, found.price, found.share
    ends = price * (1.0 - beside), price * (1.0 + beside)
    blocks = search.blocks.blocks
    within = (ends[0] < ends[1]) & (blocks.floor[group] <= ends[0]) & (ends[1] <= blocks.ceiling[group])
    moves = np.flatnonzero(within & blocks.is_smooth(group, np.nextafter(ends[0], np.inf), ends[1]))
    if not moves.size:
        return found
    prices, sizes = (ends[0][moves], price[moves], ends[1][moves]), search.sizes[active]
    low, here, high = (search.blocks.uses(group[moves], at)[1][:, active] / sizes for at in prices)
    way = share[moves, np.newaxis] * (high - low)
    at_middle = -search.left(found)[active] / sizes - share[moves] @ (here - low) + 0.5 * way.sum(axis=0)
    far = np.clip(0.5 - np.linalg.lstsq(way.T, at_middle, rcond=None)[0], 0.0, 1.0)
    stay = np.delete(np.arange(group.size), moves)
    group = np.concatenate([group[stay], group[moves], group[moves]])
    price = np.concatenate([price[stay], *prices[::2]])
    share = np.concatenate([share[stay], share[moves] * (1.0 - far), share[moves] * far])
    order = np.lexsort((price, group))
    order = order[share[order] > 0]
    return _posting(found, (group[order], price[order], share[order]))


def _posting(found: Found, lots: tuple[Indices, Floats, Floats]) -> Found:
    return dataclasses.replace(found, group=lots[0], price=lots[1], share=lots[2])
