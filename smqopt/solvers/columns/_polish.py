"""Newton steps at the end of a column search.

With the posted prices of blocks p_j(z) at their tops, shares x_j and the answers of the other rows,
the active rows are met and drawn prices tie: as many equations as multipliers and free shares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from smqopt.numeric import SIDE_ROW, Floats, Indices, Mask
from smqopt.solvers.columns._block_offers import posted_lots
from smqopt.solvers.columns._column_answers import Found
from smqopt.solvers.columns._column_search import ColumnSearch

_STEPS, _PARTS = 12, (1.0, 0.5, 0.25, 0.125)
"""Newton steps, and what of a step is taken where the whole does not lead nearer."""
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
_TIED = 2.0**-28
"""Laws as bad as the worst one, relative to the bound, count whatever their weight."""
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
_CLOSE, _OPEN = 1e-12, 2.0**-36
"""A gap so small, relative to the bound, is as good as any."""
_DENSE = 256
"""Unknowns of which a shortest step is found."""
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
        f = np.where(np.isfinite(f), f, 0.0)  # prices at jumps stay
        with np.errstate(invalid="ignore"):  # a first acceptance may be worth without bound
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

    def at(self, z: Floats, price: Floats, moves: Mask, worth_at: Callable[[Floats], Floats]) -> Floats:
        """Return the tops next to prices, of those that move; worths follow from prices."""
        if not moves.any():
            return price
        low, high = (np.clip(price * (1.0 + reach), *self.ends) for reach in (-_REACH, _REACH))
        step = np.where(moves, _SLOPE * price, 1.0)
        slope = self.slope(z, price, worth_at(price))
        with np.errstate(divide="ignore", invalid="ignore"):
            beside = np.where(moves, price + step, price)
            bend = (self.slope(z, beside, worth_at(beside)) - slope) / step
            for _ in range(_INNER):
                move = np.where(moves & (bend < 0), -slope / bend, 0.0)
                new = np.clip(price + move, low, high)
                move = np.abs(new - price)
                if np.all(move <= _STILL * price):
                    return new
                before, slope = slope, self.slope(z, new, worth_at(new))
                bend = np.where(move > _APART * price, (slope - before) / (new - price), bend)
                price = new
        return price

    def rise(self, z: Floats, price: Floats, worth: Floats) -> Floats:
        """Return what h rises by next to prices; 0 at a top."""
        return 2.0 * _SLOPE * price * self.slope(z, price, worth)


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
    if found.weights.size > 1:  # a law without weight may need what it accepts
        kept |= search.blocks.gains(found.group, found.price, np.ones(worth.size)) > 0
    height = _Tops(search, found.group, found.price).gain(found.z, found.price, worth)
    loss = height < -_ROUNDING * (uses_of @ np.abs(found.z) + gains)
    if not search.is_linear:  # what loses at slopes of an answer that is a little off may be a tie
        yield kept
    yield kept & ~loss
    if np.any(kept & loss):
        highest = np.zeros(search.blocks.count)
        np.maximum.at(highest, found.group, found.price)
        nothing = found.price < _NEXT_TO_NOTHING * highest[found.group]
        yield kept & ~(loss & ((found.share > 1.0 - _SURE) | nothing))
        if search.is_linear:
            yield kept


def _at_their_best(search: ColumnSearch, found: Found, worth: Floats) -> Found:
    """Post the best price, or none, to blocks that do not draw."""
    taken, p = search.statement.charge(float(found.z[0]), found.z[1:])
    m, count = search.statement.weights(), search.blocks.count
    best = search.blocks.blocks.enclose(
        m * (worth - taken), m * p, _CLOSE * abs(found.upper) / count, _OPEN * abs(found.upper) / count
    )
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


def _at_better_prices(search: ColumnSearch, found: Found) -> tuple[Found, Mask, Floats]:
    """Move the nearest drawn price of each block to its best one."""
    worth, m, price = search.slopes(found), search.statement.weights(), found.price.copy()
    taken, p = search.statement.charge(float(found.z[0]), found.z[1:])
    best = search.blocks.blocks.enclose(
        m * (worth - taken), m * p, *(k * abs(found.upper) / search.blocks.count for k in (_CLOSE, _OPEN))
    )
    apart = np.abs(price - best.price[found.group])
    order = np.lexsort((apart, found.group))
    nearest = order[np.unique(found.group[order], return_index=True)[1]]
    nearest = nearest[np.isfinite(apart[nearest])]
    price[nearest] = best.price[found.group[nearest]]
    return dataclasses.replace(found, price=price), np.ones(price.size, dtype=np.bool_), worth


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

    def jacobian(v: Floats, r: Floats) -> sparse.csc_array:
        moved = v[:, np.newaxis] + _RELATIVE * np.eye(v.size)
        return sparse.csc_array(np.column_stack([residual(w) - r for w in moved.T]) / _RELATIVE)

    one = at(_steps(residual, np.append(np.ones(rows.size), start), jacobian))
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
        near = max(abs(found.upper - found.lower) * _LESS, _CLOSE * abs(found.upper), search.nearest(found))
        if keeps and gap <= near:
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
        one = _newton(search, found, kept, worth)
        yield one
        if not search.is_linear and one is not found:
            yield _newton(search, *_at_better_prices(search, one))


def _one_a_top(group: Indices, price: Floats, share: Floats) -> tuple[Indices, Floats, Floats]:
    """Post once what has come to the same top from several sides."""
    order = np.lexsort((price, group))
    group, price, share = group[order], price[order], share[order]
    near = (group[1:] == group[:-1]) & (np.diff(price) <= _SAME * price[1:])
    number = np.cumsum(np.append(0, ~near)) if group.size else np.zeros(0, dtype=np.intp)
    first = np.unique(number, return_index=True)[1]
    return group[first], price[first], np.bincount(number, weights=share).astype(np.float64)


def _newton(search: ColumnSearch, found: Found, kept: Mask, worth: Floats) -> Found:
    start, (group, price, share) = found, _join_hills(search, found, worth, kept)
    price = _Tops(search, group, price).settle(found.z, worth)
    if search.is_linear:
        tops = _Tops(search, group, price)
        group, price, share = _one_a_top(group, tops.at(found.z, price, tops.moves, lambda _: worth), share)
    found = dataclasses.replace(found, group=group, price=price, share=share)
    inequality = np.append(True, ~search.statement.equal)
    for _ in range(_TRIES):
        system = _Equations(search, found, worth)
        one = system.at(_steps(system.residual, system.start, system.jacobian))
        total = np.bincount(one.group, weights=one.share, minlength=search.blocks.count)
        kept, least = one.share >= 0, np.where(inequality, 0.0, -np.inf)
        possible = kept.all() and np.all(total <= 1.0 + _SURE) and np.all(one.z >= least)
        if possible or search.is_linear:
            break
        # from there without prices that nobody is to be posted, and within the simplex
        total = np.maximum(np.bincount(one.group, weights=np.maximum(one.share, 0.0), minlength=total.size), 1.0)
        group, price, share = one.group[kept], one.price[kept], (one.share / total[one.group])[kept]
        found = dataclasses.replace(one, z=np.maximum(one.z, least), group=group, price=price, share=share)
    impossible = not possible or bool(np.any(one.weights < -_TIED))
    if impossible or not np.isfinite(search.slopes(one)).all():
        return start
    w = np.maximum(one.weights, 0.0)
    return search.bounds(dataclasses.replace(one, weights=w / np.sum(w)))


class _Equations:
    """What holds at an optimum.

    Active rows are met, drawn prices tie at their tops, the worst laws are alike. Unknown are
    multipliers, weights of laws, free shares, tied acceptances and prices of draws.
    """

    def __init__(self, search: ColumnSearch, found: Found, worth: Floats) -> None:
        self._search, self._found, self._worth = search, found, worth
        group, share, count = found.group, found.share, search.blocks.count
        self._sure = np.bincount(group, weights=share, minlength=count) > 1.0 - _SURE
        # shares of a block: free but for the largest one where all sum to 1
        order = np.lexsort((-share, group))
        first = np.zeros(share.size, dtype=np.bool_)
        first[order[np.unique(group[order], return_index=True)[1]]] = True
        self._bound = first & self._sure[group]
        self._free = np.flatnonzero(~self._bound)
        leader = np.full(count, -1, dtype=np.intp)
        leader[group[self._bound]] = np.flatnonzero(self._bound)
        self._leader = leader[group[self._free]]
        self._tops = tops = _Tops(search, group, found.price)
        # prices follow from the multipliers, but for draws where the objective bends
        drawn = (np.bincount(group, minlength=count) > 1) | ~self._sure
        self._follow = tops.moves & (search.is_linear | ~drawn[group])
        self._steer = tops.moves & ~self._follow
        self._rows = np.flatnonzero(found.z)
        under = search.values(search.acceptance(found))
        laws = np.flatnonzero((found.weights > 0) | (under <= np.min(under) + _TIED * abs(found.upper)))
        self._laws = laws[: laws.size if found.weights.size > 1 else 0]
        self._held, self._tied = search.singles.ties(found.z, found.acceptance)
        steered = group[self._steer]
        parts = (
            np.ones(self._rows.size),
            found.weights[self._laws],
            share[self._free],
            found.acceptance[self._tied],
            np.ones(steered.size),
        )
        self.start = np.concatenate(parts)
        self._ends = np.cumsum([part.size for part in parts])[:-1]
        none = np.full(self.start.size, -1, dtype=np.intp)
        own = (*(none[: part.size] for part in parts[:2]), group[self._free], none[: parts[3].size], steered)
        self._block = np.concatenate(own)
        """The block that an unknown, and the equation of its number, belongs to; −1 for none."""

    def at(self, v: Floats) -> Found:
        """Return the answer."""
        of_rows, of_laws, of_shares, of_ties, of_prices = np.split(v, self._ends)
        found, search = self._found, self._search
        columns = found.z, found.share, found.price, found.acceptance, found.weights
        z, x, p, q, w = (column.copy() for column in columns)
        z[self._rows], w[self._laws] = of_rows * found.z[self._rows], of_laws
        x[self._free] = of_shares
        rest = np.bincount(found.group[self._free], weights=of_shares, minlength=self._sure.size)
        x[self._bound] = 1.0 - rest[found.group[self._bound]]
        q[self._tied] = np.clip(of_ties, 0.0, 1.0)
        p[self._steer] *= np.clip(of_prices, 1.0 - _REACH, 1.0 + _REACH)
        p = np.clip(p, *self._tops.ends)
        one = dataclasses.replace(found, z=z, price=p, share=x, acceptance=q, held=self._held, weights=w)
        if search.is_linear:
            return dataclasses.replace(one, price=self._tops.at(z, p, self._follow, lambda _: self._worth))
        alone = dataclasses.replace(one, acceptance=search.of_alone(one), held=np.ones_like(self._held))
        followed = self._tops.at(z, p, self._follow, lambda p: search.slopes(dataclasses.replace(alone, price=p)))
        return dataclasses.replace(one, price=followed)

    def residual(self, v: Floats) -> Floats:
        """Return what the equations miss."""
        one, search = self.at(v), self._search
        worth = search.slopes(one)
        if not np.isfinite(worth).all():  # somebody without whom there is no value
            return np.full(v.size, np.inf)
        h = self._tops.gain(one.z, one.price, worth)
        ties = h[self._free] - np.where(self._leader >= 0, h[self._leader], 0.0)
        kept = search.left(one)[self._rows] / search.sizes[self._rows]
        tied, steer = self._tied, self._steer
        of_singles = search.singles.rise(one.z, one.acceptance, tied) if tied.any() else np.zeros(0)
        rise = self._tops.rise(one.z, one.price, worth)[steer] if steer.any() else np.zeros(0)
        alike = np.zeros(0)
        if self._laws.size:
            under = search.values(search.acceptance(one))[self._laws] / search.unit
            if not np.isfinite(under).all():
                return np.full(v.size, np.inf)
            alike = np.append(np.sum(one.weights) - 1.0, under[1:] - under[0])
        return np.concatenate([kept, alike, np.concatenate([ties, of_singles, rise]) / search.unit])

    def jacobian(self, v: Floats, r: Floats) -> sparse.csc_array:
        """Return differences; unknowns of all blocks move at once, one of each.

        They move equations of their own block, and those that sum over blocks, in which each
        block's part is told apart.
        """
        linking, inner = np.flatnonzero(self._block < 0), np.flatnonzero(self._block >= 0)
        sums, entries = np.flatnonzero(self._block[: self._ends[1]] < 0), list[tuple[Indices, Indices, Floats]]()
        for j in linking.tolist():
            moved = v.copy()
            moved[j] += _RELATIVE
            entries.append((np.arange(r.size), np.full(r.size, j), self.residual(moved) - r))
        inner = inner[np.argsort(self._block[inner], kind="stable")]
        number = np.arange(inner.size) - np.searchsorted(self._block[inner], self._block[inner])
        before = self._parts(v) if inner.size else np.zeros(0)
        for k in range(int(number.max(initial=-1)) + 1):
            columns, moved = inner[number == k], v.copy()
            moved[columns] += _RELATIVE
            of_block = np.full(self._sure.size, -1, dtype=np.intp)
            of_block[self._block[columns]] = columns
            own = np.flatnonzero((self._block >= 0) & (of_block[self._block] >= 0))
            entries.append((own, of_block[self._block[own]], (self.residual(moved) - r)[own]))
            change = (self._parts(moved) - before)[:, self._block[columns]]
            entries.append((np.repeat(sums, columns.size), np.tile(columns, sums.size), change.ravel()))
        rows, columns, change = (np.concatenate(each) for each in zip(*entries, strict=True))
        return sparse.csc_array((change / _RELATIVE, (rows, columns)), shape=(r.size, v.size))

    def _parts(self, v: Floats) -> Floats:
        """Return each block's part of the equations of rows and laws; (equations, G)."""
        one, search, count = self.at(v), self._search, self._sure.size
        uses = one.share[:, np.newaxis] * search.blocks.uses(one.group, one.price)[1][:, self._rows]
        kept = [np.bincount(one.group, weights=-each, minlength=count) for each in (uses / search.sizes[self._rows]).T]
        rows = search.blocks.rows
        of = search.blocks.blocks.of_row[rows]
        every = search.terms(search.acceptance(one)) if self._laws.size else []
        under = [np.bincount(of, weights=every[k][rows], minlength=count) / search.unit for k in self._laws]
        alike = [0.0 * under[0], *(each - under[0] for each in under[1:])] if under else []
        return np.array([*kept, *alike]).reshape(-1, count)


def merge(search: ColumnSearch, found: Found) -> Found:
    """Post one price in place of neighbours."""
    return _posting(found, posted_lots(search.blocks.blocks, found.group, found.price, found.share))


def draw(search: ColumnSearch, found: Found) -> Found:
    """Draw between doubles next to each other where one price misses rows.

    With the value of what is posted.
    """
    start = merge(search, found)
    active, one = np.flatnonzero(found.z), start

    def miss(other: Found) -> float:
        return float(np.max(np.abs(search.left(other) / search.sizes)[active], initial=0.0))

    for beside in _BESIDE:
        if miss(one) <= _COARSE:
            break
        one = min(one, _draw_between(search, active, start, beside), key=miss)
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


def _steps(
    residual: Callable[[Floats], Floats], v: Floats, jacobian: Callable[[Floats, Floats], sparse.csc_array]
) -> Floats:
    """Take Newton steps as long as the largest residual falls."""
    r = residual(v)
    for _ in range(_STEPS if np.isfinite(r).all() else 0):
        J = jacobian(v, r)
        if not np.isfinite(J.data).all():
            break
        step = _step(J, r)
        for part in _PARTS:
            after = residual(v - part * step)
            if np.max(np.abs(after)) < np.max(np.abs(r)):
                break
        else:
            break
        v, r = v - part * step, after
    return v


def _step(J: sparse.csc_array, r: Floats) -> Floats:
    """Return a step; of few equations that leave it open, the shortest one."""
    if r.size <= _DENSE:
        return np.asarray(np.linalg.lstsq(J.toarray(), r, rcond=None)[0])
    try:
        return np.asarray(splu(J).solve(r))
    except RuntimeError:  # singular
        return np.full(r.size, np.nan)
