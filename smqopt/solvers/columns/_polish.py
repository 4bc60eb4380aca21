"""Newton steps at the end of a column search.

With the posted prices of blocks p_j(z) at their tops, shares x_j and the answers of the other rows,
the active rows are met and drawn prices tie: as many equations as multipliers and free shares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from smqopt.numeric import SIDE_ROW, Floats, Indices, Mask
from smqopt.solvers.columns._block_offers import posted_lots
from smqopt.solvers.columns._column_answers import Found
from smqopt.solvers.columns._column_search import ColumnSearch

_STEPS = 6
_RELATIVE = 2.0**-20
"""Of the multipliers, for differences."""
_REACH = 2.0**-8
"""How far a price may move, relatively."""
_SLOPE = 2.0**-17
"""Of the price, for the bend of what a block gains."""
_STILL, _APART = 2.0**-34, 2.0**-26
"""After a smaller move of a price the next one is within its last bits; the bend is taken anew from
larger ones."""
_INNER = 8
_SAME = 2.0**-20
"""Tops of a block that are so near to each other, relatively, are one."""
_SETTLES = 2.0**-12
"""Prices so near to an end of a cell, relative to the highest one, may belong there."""
_IDLE = 2.0**-28
"""Prices that use less of every row, and buy less, are not posted."""
_IDLE_PRICE = 2.0**-44
"""A row that is charged less, relative to the one that is charged most, is not active."""
_NEXT_TO_NOTHING = 2.0**-10
"""Of the highest price that a block draws."""
_ROUNDING = 2.0**-40
"""A loss that is smaller, relative to its terms, is none."""
_TRIES = 3
_LESS = 2.0**-4
"""An answer whose gap shrinks so far is not tried from other prices."""
_CLOSE = 1e-12
"""A gap so small, relative to the bound, is as good as any."""
_FEW = 64
"""Unknowns of Newton steps over rows on their own."""
_COARSE, _BESIDE = 2.0**-46, (2.0**-48, 2.0**-44, 2.0**-40, 2.0**-36)
"""Active rows that are missed by less, relative to their sizes, are met; how far from one price,
relatively, those may lie that are drawn in its place, the first ones that do."""
_SURE = 2.0**-22
"""Shares of a block that miss 1 by less come to it: HiGHS may keep rows to 1e-7 alone."""


class _Tops:
    """Posted prices as functions of the multipliers."""

    def __init__(self, search: ColumnSearch, group: Indices, price: Floats) -> None:
        self._search, self._group = search, group
        self.price = price
        blocks = search.blocks.blocks
        assert blocks is not None  # noqa: S101
        self._blocks = blocks
        self._m = search.statement.weights()
        below = 2.0 * _SLOPE if search.is_linear else _BESIDE[0]  # differences go up, those of multipliers down, too
        self.moves: Mask = np.array(
            [
                blocks.lists[g] is None and not _at_a_knot(blocks.terms.knots_of(g), p, below)
                for g, p in _pairs(group, price)
            ],
            dtype=np.bool_,
        )
        self.ends = blocks.floor[group], blocks.ceiling[group]
        self.moves &= (price > self.ends[0]) & (price < self.ends[1])

    def gain(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return h of each lot at prices."""
        search = self._search
        taken, p = search.statement.charge(float(z[0]), z[1:])
        node, row, F = self._blocks.acceptance(self._group, price)
        each = self._m[row] * np.where(F > 0, worth[row] - taken[row] - p[row] * price[node], 0.0) * F
        return np.bincount(node, weights=each, minlength=price.size).astype(np.float64)

    def slope(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return h′ of each lot at prices."""
        search = self._search
        taken, p = search.statement.charge(float(z[0]), z[1:])
        (node, row, F), f = self._blocks.acceptance(self._group, price), self._blocks.density(self._group, price)[2]
        with np.errstate(invalid="ignore"):  # of an infinite density no step comes
            rise = np.where(f > 0, (worth[row] - taken[row] - p[row] * price[node]) * f, 0.0)
        each = self._m[row] * (rise - p[row] * F)
        return np.bincount(node, weights=each, minlength=price.size).astype(np.float64)

    def settle(self, z: Floats, worth: Floats) -> Floats:
        """Return prices, those next to an end of a cell on it where that is no worse."""
        nodes = [self._blocks.nodes[g] for g in self._group.tolist()]
        near = np.array([at[np.argmin(np.abs(at - p))] for at, p in zip(nodes, self.price.tolist(), strict=True)])
        width = np.array([at[-1] for at in nodes])
        better = self.gain(z, near, worth) >= self.gain(z, self.price, worth)
        return np.where((np.abs(near - self.price) <= _SETTLES * width) & better, near, self.price)

    def at(self, z: Floats, worth: Floats) -> Floats:
        """Return the tops next to the known prices, at worths that stay."""
        price = self.price.copy()
        if not self.moves.any():
            return price
        low, high = (np.clip(price * (1.0 + reach), *self.ends) for reach in (-_REACH, _REACH))
        step = _SLOPE * price
        slope = self.slope(z, price, worth)
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = (self.slope(z, price + step, worth) - slope) / step
            for _ in range(_INNER):
                move = np.where(self.moves & (bend < 0), -slope / bend, 0.0)
                new = np.clip(price + move, low, high)
                move = np.abs(new - price)
                if np.all(move <= _STILL * price):
                    return new
                before, slope = slope, self.slope(z, new, worth)
                bend = np.where(move > _APART * price, (slope - before) / (new - price), bend)
                price = new
        return price

    def rise(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return what h rises by over prices that may move; 0 at a top."""
        return (2.0 * _SLOPE * price * self.slope(z, price, worth))[self.moves]


def _pairs(group: Indices, price: Floats) -> list[tuple[int, float]]:
    return list(zip(group.tolist(), price.tolist(), strict=True))


def _at_a_knot(knots: Floats, price: float, below: float) -> bool:
    return bool(np.any((knots >= price - below * price) & (knots <= price + 2.0 * _SLOPE * price)))


def _join_hills(search: ColumnSearch, found: Found, worth: Floats, kept: Mask) -> tuple[Indices, Floats, Floats]:
    """Return lots with neighbours on two sides of one top as one.

    There is no valley between them.
    """
    order = np.flatnonzero(kept)[np.lexsort((found.price[kept], found.group[kept]))]
    group, price, share = found.group[order], found.price[order], found.share[order]
    blocks = search.blocks.blocks
    while True:
        middle = 0.5 * (price[1:] + price[:-1])
        between, here = (
            _Tops(search, *lots).gain(found.z, lots[1], worth) for lots in ((group[1:], middle), (group, price))
        )
        one = (group[1:] == group[:-1]) & (between >= np.minimum(here[1:], here[:-1]))
        for k in np.flatnonzero(one).tolist():
            g = int(group[k])
            knots = blocks.terms.knots_of(g)
            one[k] = blocks.lists[g] is None and not np.any((knots >= price[k]) & (knots <= price[k + 1]))
        if not one.any():
            return group, price, share
        k = int(np.argmax(one))
        total = share[k] + share[k + 1]
        price[k] = (share[k] * price[k] + share[k + 1] * price[k + 1]) / total
        share[k] = total
        rest = np.arange(group.size) != k + 1
        group, price, share = group[rest], price[rest], share[rest]


def _choices(search: ColumnSearch, found: Found, worth: Floats) -> Iterator[Mask]:
    """Return which prices may be posted, first without all that lose.

    The linear program posts them at a loss below its tolerance, which rows may feel; but prices
    that truly tie with no offer may show a loss of that size, too.
    """
    uses_of = np.abs(search.blocks.uses(found.group, found.price)[1])
    uses = np.max(uses_of / search.sizes, axis=1, initial=0.0)
    gains = np.abs(search.blocks.gains(found.group, found.price, worth))
    kept = (uses > _IDLE) | (gains > _IDLE * search.unit)
    height = _Tops(search, found.group, found.price).gain(found.z, found.price, worth)
    loss = height < -_ROUNDING * (uses_of @ np.abs(found.z) + gains)
    yield kept & ~loss
    if np.any(kept & loss):
        highest = np.zeros(search.blocks.count)
        np.maximum.at(highest, found.group, found.price)
        nothing = found.price < _NEXT_TO_NOTHING * highest[found.group]
        yield kept & ~(loss & ((found.share > 1.0 - _SURE) | nothing))
        yield kept


def _at_their_best(search: ColumnSearch, found: Found, worth: Floats) -> Found:
    """Post the best price, or none, to blocks that do not draw."""
    taken, p = search.statement.charge(float(found.z[0]), found.z[1:])
    m, count = search.statement.weights(), search.blocks.count
    best = search.blocks.blocks.enclose(m * (worth - taken), m * p, _CLOSE * abs(found.upper) / count)
    lots = np.bincount(found.group, minlength=count)
    total = np.bincount(found.group, weights=found.share, minlength=count)
    alone = (lots == 0) | ((lots == 1) & (total > 1.0 - _SURE))
    posted = np.flatnonzero(alone & (best.height > 0) & np.isfinite(best.price))
    drawn = ~alone[found.group]
    columns = (
        (found.group[drawn], posted),
        (found.price[drawn], best.price[posted]),
        (found.share[drawn], np.ones(posted.size)),
    )
    group, price, share = (np.concatenate(both) for both in columns)
    return dataclasses.replace(found, group=group, price=price, share=share)


def _without_idle_prices(search: ColumnSearch, found: Found) -> Found:
    charged = np.abs(found.z) * search.sizes
    return dataclasses.replace(found, z=np.where(charged > _IDLE_PRICE * charged.max(initial=0.0), found.z, 0.0))


def polish_ties(search: ColumnSearch, found: Found) -> Found:
    """Take Newton steps where rows are on their own and few kinds of them tie.

    Rows off their answer at an end of their bounds stand there; alike ones that tie move as one.
    """
    found = _without_idle_prices(search, found)
    held, tied = search.singles.ties(found.z, found.acceptance)
    kind = search.singles.kinds(tied)
    first = tied.copy()
    first[tied] = np.isin(np.arange(kind.size), np.unique(kind, return_index=True)[1])
    rows, count = np.flatnonzero(found.z), int(first.sum())
    if not rows.size or rows.size + count > _FEW:
        return found
    start = np.bincount(kind, weights=found.acceptance[tied]) / np.maximum(np.bincount(kind), 1)

    def at(v: Floats) -> Found:
        z, q = found.z.copy(), found.acceptance.copy()
        z[rows] = v[: rows.size] * found.z[rows]
        q[tied] = np.clip(v[rows.size :], 0.0, 1.0)[kind]
        return dataclasses.replace(found, z=z, acceptance=q, held=held)

    def residual(v: Floats) -> Floats:
        one = at(v)
        ties = search.singles.rise(one.z, one.acceptance, first) if count else np.zeros(0)
        return np.concatenate([search.left(one)[rows] / search.sizes[rows], ties / search.unit])

    one = at(_steps(residual, np.append(np.ones(rows.size), start)))
    return found if np.any(one.z[np.append(True, ~search.statement.equal)] < 0) else one


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
        if keeps and gap <= max(abs(found.upper - found.lower) * _LESS, _CLOSE * abs(found.upper)):
            break
    return best


def _candidates(search: ColumnSearch, found: Found) -> Iterator[Found]:
    """Return where Newton steps lead from several choices, the likeliest first."""
    start = found
    for number in range(1 + _TRIES if search.is_linear else 0):
        worth = search.slopes(start)
        start = _at_their_best(search, start, worth) if number else start
        start = _newton(search, start, next(_choices(search, start, worth)), worth)
        yield start
    worth = search.slopes(found)
    for kept in _choices(search, found, worth):
        yield _newton(search, found, kept, worth)


def _one_a_top(group: Indices, price: Floats, share: Floats) -> tuple[Indices, Floats, Floats]:
    """Post once what has come to the same top from several sides."""
    order = np.lexsort((price, group))
    group, price, share = group[order], price[order], share[order]
    near = (group[1:] == group[:-1]) & (np.diff(price) <= _SAME * price[1:])
    number = np.cumsum(np.append(0, ~near)) if group.size else np.zeros(0, dtype=np.intp)
    first = np.unique(number, return_index=True)[1]
    return group[first], price[first], np.bincount(number, weights=share).astype(np.float64)


def _newton(search: ColumnSearch, found: Found, kept: Mask, worth: Floats) -> Found:
    group, price, share = _join_hills(search, found, worth, kept)
    price = _Tops(search, group, price).settle(found.z, worth)
    if search.is_linear:
        group, price, share = _one_a_top(group, _Tops(search, group, price).at(found.z, worth), share)
    total = np.bincount(group, weights=share, minlength=search.blocks.count)
    sure = total > 1.0 - _SURE
    # shares of a block: free but for the largest one where all sum to 1
    order = np.lexsort((-share, group))
    first = np.zeros(share.size, dtype=np.bool_)
    first[order[np.unique(group[order], return_index=True)[1]]] = True
    bound = first & sure[group]
    free = np.flatnonzero(~bound)
    leader = np.full(search.blocks.count, -1, dtype=np.intp)
    leader[group[bound]] = np.flatnonzero(bound)
    tops = _Tops(search, group, price)
    steer = tops.moves & (not search.is_linear)  # of a linear objective prices follow from the multipliers
    rows = np.flatnonzero(found.z)
    held, tied = search.singles.ties(found.z, found.acceptance)
    ends = np.cumsum([rows.size, free.size, int(tied.sum())])

    def at(v: Floats) -> Found:
        of_rows, of_shares, of_ties, of_prices = np.split(v, ends)
        z, x, p, q = found.z.copy(), share.copy(), price.copy(), found.acceptance.copy()
        z[rows] = of_rows * found.z[rows]
        x[free] = of_shares
        rest = np.bincount(group[free], weights=x[free], minlength=sure.size)
        x[bound] = 1.0 - rest[group[bound]]
        q[tied] = np.clip(of_ties, 0.0, 1.0)
        p[steer] *= np.clip(of_prices, 1.0 - _REACH, 1.0 + _REACH)
        p = np.clip(p, *tops.ends)
        p = tops.at(z, worth) if search.is_linear else p
        return dataclasses.replace(found, z=z, group=group, price=p, share=x, acceptance=q, held=held)

    def residual(v: Floats) -> Floats:
        one = at(v)
        worth = search.slopes(one)
        if not np.isfinite(worth).all():  # somebody without whom there is no value
            return np.full(v.size, np.inf)
        h = tops.gain(one.z, one.price, worth)
        other = np.where(leader[group[free]] >= 0, h[leader[group[free]]], 0.0)
        kept = search.left(one)[rows] / search.sizes[rows]
        ties = search.singles.rise(one.z, one.acceptance, tied) if tied.any() else np.zeros(0)
        rise = np.zeros(0) if search.is_linear else tops.rise(one.z, one.price, worth) / search.unit
        return np.concatenate([kept, (h[free] - other) / search.unit, ties / search.unit, rise])

    v = np.concatenate([np.ones(rows.size), share[free], found.acceptance[tied], np.ones(int(steer.sum()))])
    one = at(_steps(residual, v))
    inequality = np.append(True, ~search.statement.equal)
    total = np.bincount(group, weights=one.share, minlength=sure.size)
    impossible = np.any(one.share < 0) or np.any(total > 1.0 + _SURE) or np.any(one.z[inequality] < 0)
    if impossible or not np.isfinite(search.slopes(one)).all():
        return found
    return search.bounds(one)


def merge(search: ColumnSearch, found: Found) -> Found:
    """Post one price in place of neighbours."""
    return _posting(found, posted_lots(search.blocks.blocks, found.group, found.price, found.share))


def draw(search: ColumnSearch, found: Found) -> Found:
    """Draw between doubles next to each other where one price misses rows.

    With the value of what is posted.
    """
    start = merge(search, found)
    active, one = np.flatnonzero(found.z), start
    for beside in _BESIDE:
        if np.all(np.abs(search.left(one) / search.sizes)[active] <= _COARSE):
            break
        one = _draw_between(search, active, start, beside)
    return dataclasses.replace(one, lower=search.value(one))


def _draw_between(search: ColumnSearch, active: Indices, found: Found, beside: float) -> Found:
    """Draw between the prices beside each one, so that active rows are met."""
    group, price, share = found.group, found.price, found.share
    ends = price * (1.0 - beside), price * (1.0 + beside)
    moves = np.flatnonzero([_is_smooth(search, *at) for at in zip(group.tolist(), *ends, strict=True)])
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


def _is_smooth(search: ColumnSearch, group: int, low: float, high: float) -> bool:
    """Say whether a block may post two prices without a knot above the lower one."""
    blocks = search.blocks.blocks
    knots, within = blocks.terms.knots_of(group), blocks.floor[group] <= low and high <= blocks.ceiling[group]
    return bool(low < high and blocks.lists[group] is None and within and not np.any((knots > low) & (knots <= high)))


def _steps(residual: Callable[[Floats], Floats], v: Floats) -> Floats:
    """Take Newton steps as long as the largest residual falls."""
    r = residual(v)
    for _ in range(_STEPS if np.isfinite(r).all() else 0):
        J = np.empty((r.size, v.size))
        for k in range(v.size):
            w = v.copy()
            w[k] += _RELATIVE
            J[:, k] = (residual(w) - r) / _RELATIVE
        if not np.isfinite(J).all():
            break
        new = v - np.linalg.lstsq(J, r, rcond=None)[0]
        after = residual(new)
        if not np.max(np.abs(after)) < np.max(np.abs(r)):
            break
        v, r = new, after
    return v
