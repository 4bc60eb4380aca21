"""What groups of owners with different laws buy and cost at one common price, as cells on which both are known exactly.

At a common price p a group buys V(p) = Σ m_i ε_i F_i(p) and is paid S(p) = p N(p), N(p) = Σ m_i F_i(p): who accepts is paid p, also where p is above
her support. Where every F_i runs straight, or only jumps, V and N run straight between knots, and on such a cell

    h(t) = V − λ p N = V₀ + V′t − λ (p₀ + w t)(N₀ + N′t),   0 ≤ t < 1,

is concave in t, for V′, N′ ≥ 0. S against V need not be convex from cell to cell; the largest h over all cells is what its convex hull gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric.tolerances import ROUNDING
from smqopt.program.constraints.record import counts_of
from smqopt.program.market import Market
from smqopt.valuation.base import Valuation
from smqopt.valuation.discrete import Discrete
from smqopt.valuation.piecewise_uniform import PiecewiseUniform
from smqopt.valuation.piecewise_uniform_by_owner import PiecewiseUniformByOwner
from smqopt.valuation.point_mass import PointMass
from smqopt.valuation.uniform import Uniform

__all__ = ["Best", "PooledCurves", "acceptance_at", "curves_of"]

Floats = NDArray[np.float64]
Owners = NDArray[np.intp]

_MOST_PAIRS = 1 << 28
"""Owners times knots of one group beyond this take minutes."""
_PAIRS_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class Best:
    """The price of each group at which h is largest; shape (G,) each."""

    price: Floats
    """In currency; −∞ where no offer is best."""
    spend: Floats
    """S at that price, in currency; from below the knot where the cell ends there."""


@dataclass(frozen=True, eq=False)
class PooledCurves:
    """The cells of G groups, group by group, each group's first one being no offer; arrays of one length but for `start` and `owners`."""

    start: Owners
    """The first cell of each group, and one after the last; shape (G + 1,)."""
    owners: Owners
    """How many terms the sums of each group have; shape (G,)."""
    price: Floats
    """p₀, in currency; −∞ for no offer."""
    width: Floats
    """w, in currency."""
    privacy: Floats
    more_privacy: Floats
    """V₀ and V′, in units of ε."""
    count: Floats
    more_count: Floats
    """N₀ and N′, in owners."""

    def best(self, budget_price: float) -> Best:
        """Give, for each group, the price at which V − λS is largest, for λ > 0; the lowest at a tie."""
        t, height = self._tops(budget_price)
        cell = self._first_of_largest(height)
        base, end = self.price[cell], self.price[cell] + self.width[cell]
        whole = (t[cell] == 1.0) & (self.width[cell] > 0)
        price = np.where(whole, np.nextafter(end, 0.0), base + self.width[cell] * t[cell])
        spend = np.where(base >= 0, price, 0.0) * (self.count[cell] + t[cell] * self.more_count[cell])
        return Best(price, spend)

    def fullest(self) -> Best:
        """Give, for each group, the lowest price at which V is largest."""
        cell = self._first_of_largest(self.privacy)
        price = self.price[cell]
        return Best(price, np.where(price >= 0, price, 0.0) * self.count[cell])

    def free(self) -> Best:
        """Give a price of 0 to each group that may have it, and no offer to the others."""
        cell = self._first_of_largest(np.where(self.price <= 0, self.privacy, -1.0))
        return Best(self.price[cell], np.zeros(cell.size))

    def bound(self, budget_price: float) -> Floats:
        """Bound max_p {V(p) − λS(p)} of each group from above, in units of ε, shape (G,), for 0 ≤ λ < ∞.

        On a cell h is a parabola: with slope g at t and bend c it rises from there by at most g₊(1 − t) or (−g)₊ t, and by at most g²/4c, whatever the
        accuracy of t. To that, 16 roundings and one for each term of the sums are added, relative to the absolute terms.
        """
        t, height = self._tops(budget_price)
        base = np.where(self.price >= 0, self.price, 0.0)
        bend = budget_price * self.width * self.more_count
        g = self._slope(budget_price) - 2.0 * bend * t
        roundings = ROUNDING.value + 2.0**-52 * np.repeat(self.owners, np.diff(self.start))
        unsure = roundings * (
            self.more_privacy + budget_price * (self.width * self.count + base * self.more_count) + 2.0 * bend * t
        )
        up = np.where(t < 1, np.maximum(g + unsure, 0.0), 0.0)
        down = np.where(t > 0, np.maximum(unsure - g, 0.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_bend = np.where(bend > 0, np.maximum(up, down) ** 2 / (4.0 * bend), np.inf)
        beyond = np.minimum(np.maximum(up * (1.0 - t), down * t), by_bend) * (1.0 + roundings)
        size = self.privacy + self.more_privacy * t
        size = size + budget_price * (base + self.width * t) * (self.count + self.more_count * t)
        return np.asarray(np.maximum.reduceat(height + beyond + roundings * size, self.start[:-1]))

    def free_privacy(self) -> Floats:
        """Give what each group sells at a price of 0, in units of ε, shape (G,)."""
        return np.asarray(np.maximum.reduceat(np.where(self.price <= 0, self.privacy, 0.0), self.start[:-1]))

    def highest(self) -> Floats:
        """Give the highest price that each group may get, in currency, shape (G,); −∞ where it may get none."""
        return np.asarray(np.maximum.reduceat(self.price, self.start[:-1]))

    def _slope(self, budget_price: float) -> Floats:
        """h′(0)."""
        base = np.where(self.price >= 0, self.price, 0.0)
        return self.more_privacy - budget_price * (self.width * self.count + base * self.more_count)

    def _tops(self, budget_price: float) -> tuple[Floats, Floats]:
        """Give the t of each cell at which h is largest, and h there."""
        base, slope = np.where(self.price >= 0, self.price, 0.0), self._slope(budget_price)
        bend = 2.0 * budget_price * self.width * self.more_count
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.where(slope <= 0, 0.0, np.where(slope >= bend, 1.0, slope / bend))
        bought, sold = self.privacy + self.more_privacy * t, self.count + self.more_count * t
        return t, bought - budget_price * (base + self.width * t) * sold

    def _first_of_largest(self, height: Floats) -> Owners:
        largest = np.repeat(np.maximum.reduceat(height, self.start[:-1]), np.diff(self.start))
        at = np.flatnonzero(height == largest)
        group = np.searchsorted(self.start, at, side="right") - 1
        return at[np.unique(group, return_index=True)[1]].astype(np.intp)


def acceptance_at(market: Market, owners: Owners, price: Floats) -> Floats:
    """Give F_i at a price for each of some owners, one price an owner; 0 below her support, −∞ meaning no offer, and 1 above it."""
    low, high = market.low[owners], market.high[owners]
    q = market.valuation.take(owners).cdf(np.clip(price, low, high))
    return np.where(price < low, 0.0, np.where(price >= high, 1.0, q))


def curves_of(market: Market, groups: Sequence[Owners], lists: Sequence[Floats | None], words: str) -> PooledCurves:
    """Give the cells of groups.

    Parameters
    ----------
    market
        The owners.
    groups
        The owners of each group.
    lists
        Each group's price list, increasing; None where any price may be offered, and then all of its laws are straight or jump between knots.
    words
        The constraint, for an error text.

    Raises
    ------
    InputError
        If a law that is neither straight nor a list of atoms meets a group without a price list, or a group is too large.
    """
    cells = [_cells(market, owners, prices, words) for owners, prices in zip(groups, lists, strict=True)]
    start = np.concatenate([[0], np.cumsum([columns.shape[1] for columns in cells])]).astype(np.intp)
    return PooledCurves(start, np.array([owners.size for owners in groups], dtype=np.intp), *np.hstack(cells))


def _cells(market: Market, owners: Owners, prices: Floats | None, words: str) -> Floats:
    """Give the six columns of one group's cells; shape (6, cells)."""
    if prices is None:
        knots, jumps = _knots(market, owners, words)
    else:
        knots, jumps = prices, np.ones(owners.size, dtype=np.bool_)
    if knots.size * owners.size > _MOST_PAIRS:
        raise InputError(
            f"constraint {words!r}",
            f"must leave at most {_MOST_PAIRS} pairs of an owner and a knot of a law in one group",
            value=knots.size * owners.size,
            remedy="split the group, or list the prices (PriceMenu)",
        )
    m = counts_of(market)[owners]
    worth = np.column_stack([m * market.epsilon[owners], m])
    straight = np.where(jumps[:, np.newaxis], 0.0, worth)
    at, more = np.empty((knots.size, 2)), np.zeros((knots.size, 2))
    block = max(_PAIRS_AT_A_TIME // owners.size, 1)
    for first in range(0, knots.size, block):
        chosen = knots[first : first + block + 1]
        every = acceptance_at(market, np.repeat(owners, chosen.size), np.tile(chosen, owners.size))
        F = every.reshape(owners.size, chosen.size)
        here = at[first : first + block]
        here[:] = np.add.reduce(worth[:, np.newaxis, :] * F[:, : len(here), np.newaxis], axis=0)
        rise = np.add.reduce(straight[:, np.newaxis, :] * np.diff(F)[:, :, np.newaxis], axis=0)
        more[first : first + len(rise)] = rise[: len(more) - first]
    width = np.append(np.diff(knots), 0.0)[: knots.size]
    if prices is not None or jumps.all():
        width = np.zeros(knots.size)  # between knots a higher price buys nothing more
    cells = np.vstack([knots, width, at[:, 0], more[:, 0], at[:, 1], more[:, 1]])
    return np.hstack([np.array([[-np.inf], [0.0], [0.0], [0.0], [0.0], [0.0]]), cells])


def _knots(market: Market, owners: Owners, words: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Give the knots of a group's laws, increasing, and whose laws jump; shapes (k,) and that of `owners`."""
    chosen = market.valuation.take(owners)
    jumps, found = np.zeros(owners.size, dtype=np.bool_), list[Floats]()
    for law, index in chosen.parts():
        known = _knots_of_law(law)
        if known is None:
            first = market.owner_ids[int(owners[np.arange(owners.size)[index][0]])]
            raise InputError(
                f"constraint {words!r}",
                "pools owners of different laws, whose best common price can be bounded where laws are straight between knots, or jump",
                value=f"law {law.name!r} of owner {first!r}",
                remedy="list the prices too (PriceMenu), take a Uniform, PiecewiseUniform, Discrete or PointMass law, or split the group",
            )
        found.append(known[0])
        jumps[index] = known[1]
    return np.unique(np.concatenate(found)), jumps


def _knots_of_law(law: Valuation) -> tuple[Floats, bool] | None:
    """Give the prices between which F runs straight, or is constant, and whether it is constant; None where it is neither."""
    if isinstance(law, Uniform):
        return np.concatenate([np.ravel(law.low), np.ravel(law.high)]), False
    if isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner):
        return np.concatenate([law.table.arcs.low, law.table.arcs.high]), False
    if isinstance(law, Discrete):
        return law.values, True
    if isinstance(law, PointMass):
        return np.ravel(np.asarray(law.value, dtype=np.float64)), True
    return None
