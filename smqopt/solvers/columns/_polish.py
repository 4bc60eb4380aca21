"""Newton steps at the end of a column search.

With the posted prices of blocks p_j(z) at their tops, shares x_j and the answers of the other rows,
the active rows are met and drawn prices tie: as many equations as multipliers and free shares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from smqopt.numeric import SIDE_ROW, Floats, Indices, Mask, newton_steps
from smqopt.solvers.columns._block_offers import join_lots
from smqopt.solvers.columns._column_answers import GOOD, Found
from smqopt.solvers.columns._column_search import ColumnSearch
from smqopt.solvers.columns._draws import SURE
from smqopt.solvers.columns._newton_equations import TIED, Equations
from smqopt.solvers.columns._tops import REACH, Tops

_SAME = 2.0**-20
"""Tops of a block that are so near to each other, relatively, are one."""
_IDLE = 2.0**-28
"""Prices that use less of every row, and buy less, are not posted."""
_IDLE_PRICE = 2.0**-44
"""A row that is charged less, relative to the one that is charged most, is not active."""
_SMALL = 2.0**-14
"""Shares that are smaller may be what interior steps leave."""
_NEXT_TO_NOTHING = 2.0**-10
"""Of the highest price that a block draws."""
_ROUNDING = 2.0**-40
"""A loss that is smaller, relative to its terms, is none."""
_TRIES = 3
_LESS = 2.0**-4
"""An answer whose gap shrinks so far is not tried from other prices."""
_CLOSE = 1e-12
"""How near the best prices are sought, relative to the bound."""


def _join_hills(search: ColumnSearch, found: Found, worth: Floats, kept: Mask) -> tuple[Indices, Floats, Floats]:
    """Return lots with neighbours on two sides of one top as one.

    There is no valley between them.
    """
    order = np.flatnonzero(kept)[np.lexsort((found.price[kept], found.group[kept]))]
    group, price, share = found.group[order], found.price[order], found.share[order]
    blocks = search.blocks.blocks
    if not search.is_linear:  # what is left out goes to the others
        wide = ~_next_to_nothing(search, found) | kept
        every, some = (
            np.bincount(found.group[at], found.share[at], blocks.count) for at in (np.flatnonzero(wide), order)
        )
        share = share * (every / np.where(some > 0, some, 1.0))[group]
    while True:
        middle = 0.5 * (price[1:] + price[:-1])
        between, here = (
            Tops(search, *lots).gain(found.z, lots[1], worth) for lots in ((group[1:], middle), (group, price))
        )
        one = (group[1:] == group[:-1]) & (between >= np.minimum(here[1:], here[:-1]))
        at = np.flatnonzero(one)
        one[at] = blocks.is_smooth(group[at], price[at], price[at + 1])
        if not one.any():
            return group, price, share
        group, price, share = join_lots(one & (np.cumsum(one) % 2 == 1), group, price, share)


def _choices(search: ColumnSearch, found: Found, worth: Floats) -> Iterator[Mask]:
    """Return which prices may be posted, first without all that lose.

    The linear program posts them at a loss below its tolerance, which rows may feel; but prices
    that truly tie with no offer may show a loss of that size, too.
    """
    uses_of = np.abs(search.blocks.uses(found.group, found.price)[1])
    uses = np.max(uses_of / search.sizes, axis=1, initial=0.0)
    gains = np.abs(search.blocks.gains(found.group, found.price, worth))
    kept = (uses > _IDLE) | (gains > _IDLE * search.unit)
    if found.weights.size > 1:  # a law without weight may need what it accepts
        kept |= search.blocks.gains(found.group, found.price, np.ones(worth.size)) > 0
    height = Tops(search, found.group, found.price).gain(found.z, found.price, worth)
    loss = height < -_ROUNDING * (uses_of @ np.abs(found.z) + gains)
    nothing = _next_to_nothing(search, found)
    if not search.is_linear:  # what loses at slopes of an answer that is a little off may be a tie
        yield kept & (found.share > _SMALL) & ~nothing
        yield kept
    yield kept & ~loss
    if np.any(kept & loss):
        yield kept & ~(loss & ((found.share > 1.0 - SURE) | nothing))
        if search.is_linear:
            yield kept


def _next_to_nothing(search: ColumnSearch, found: Found) -> Mask:
    highest = np.zeros(search.blocks.count)
    np.maximum.at(highest, found.group, found.price)
    return np.asarray(found.price < _NEXT_TO_NOTHING * highest[found.group])


def _at_better_prices(search: ColumnSearch, found: Found) -> tuple[Found, Mask, Floats]:
    """Move the nearest price of each block to its best one, or add that."""
    worth, m, price = search.slopes(found), search.statement.weights(), found.price.copy()
    taken, p = search.statement.charge(float(found.z[0]), found.z[1:])
    allowed = _CLOSE * abs(found.upper) / search.blocks.count
    best = search.blocks.blocks.enclose(m * (worth - taken), m * p, allowed)
    apart = np.abs(price - best.price[found.group])
    order = np.lexsort((apart, found.group))
    nearest = order[np.unique(found.group[order], return_index=True)[1]]
    nearest = nearest[apart[nearest] <= REACH * price[nearest]]
    price[nearest] = best.price[found.group[nearest]]
    missed = np.setdiff1d(np.flatnonzero(np.isfinite(best.price) & (best.height > 0)), found.group[nearest])
    group, share = np.append(found.group, missed), np.append(found.share, 0.0 * missed)
    one = dataclasses.replace(found, group=group, price=np.append(price, best.price[missed]), share=share)
    return one, np.ones(group.size, dtype=np.bool_), worth


def _without_idle_prices(search: ColumnSearch, found: Found) -> Found:
    charged = np.abs(found.z) * search.sizes
    return dataclasses.replace(found, z=np.where(charged > _IDLE_PRICE * charged.max(initial=0.0), found.z, 0.0))


def polish(search: ColumnSearch, found: Found) -> Found:
    """Take Newton steps from an answer; return it where they lead nowhere."""
    found = _without_idle_prices(search, found)
    if not found.z.any() or not np.isfinite(found.lower):
        return found
    best = found
    for one in _candidates(search, found):
        keeps, kept = (search.excess(each) <= SIDE_ROW.value for each in (one, best))
        gap = abs(one.upper - one.lower)
        if best is found or keeps > kept or (keeps == kept and gap < abs(best.upper - best.lower)):
            best = one
        near = max(abs(found.upper - found.lower) * _LESS, 0.5 * GOOD * abs(found.upper))
        if keeps and gap <= near:
            break
    return best


def _candidates(search: ColumnSearch, found: Found) -> Iterator[Found]:
    """Return where Newton steps lead from several choices, the likeliest first."""
    worth, tried = search.slopes(found), set[bytes]()
    for kept in _choices(search, found, worth):
        if kept.tobytes() in tried:
            continue
        tried.add(kept.tobytes())
        one = _newton(search, found, kept, worth)
        yield one
        for _ in range(0 if one is found else _TRIES):
            before, one = one, _newton(search, *_at_better_prices(search, one))
            yield one
            if abs(one.upper - one.lower) >= abs(before.upper - before.lower):
                break


def _one_a_top(group: Indices, price: Floats, share: Floats) -> tuple[Indices, Floats, Floats]:
    """Post once what has come to the same top from several sides."""
    order = np.lexsort((price, group))
    group, price, share = group[order], price[order], share[order]
    return join_lots((group[1:] == group[:-1]) & (np.diff(price) <= _SAME * price[1:]), group, price, share)


def _newton(search: ColumnSearch, found: Found, kept: Mask, worth: Floats) -> Found:
    start, (group, price, share) = found, _join_hills(search, found, worth, kept)
    price = Tops(search, group, price).settle(found.z, worth)
    if search.is_linear:
        tops = Tops(search, group, price)
        group, price, share = _one_a_top(group, tops.at(found.z, price, tops.moves, lambda _: worth), share)
    found = dataclasses.replace(found, group=group, price=price, share=share)
    inequality = np.append(True, ~search.statement.equal)
    for _ in range(_TRIES):
        system = Equations(search, found, worth)
        one = system.at(newton_steps(system.residual, system.start, system.jacobian))
        total = np.bincount(one.group, weights=one.share, minlength=search.blocks.count)
        kept, least = one.share >= 0, np.where(inequality, 0.0, -np.inf)
        possible = kept.all() and np.all(total <= 1.0 + SURE) and np.all(one.z >= least)
        if possible or search.is_linear:
            break
        # from there without prices that nobody is to be posted, and within the simplex
        total = np.maximum(np.bincount(one.group, weights=np.maximum(one.share, 0.0), minlength=total.size), 1.0)
        group, price, share = one.group[kept], one.price[kept], (one.share / total[one.group])[kept]
        found = dataclasses.replace(one, z=np.maximum(one.z, least), group=group, price=price, share=share)
    impossible = not possible or bool(np.any(one.weights < -TIED)) or not np.any(one.weights > 0)
    if impossible or not np.isfinite(search.slopes(one)).all():
        return start
    w = np.maximum(one.weights, 0.0)
    return search.bounds(dataclasses.replace(one, weights=w / np.sum(w)))
