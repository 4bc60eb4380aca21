"""What groups of owners with different laws buy and cost at one common price.

The best price at a price of the budget, and a bound that no price exceeds.

Who accepts is paid p, also where p is above her support. S against V need not be convex; the
largest V − λS over all prices is what its convex hull gives. Where every F_i runs straight, or only
jumps, cells between knots say all. Where laws bend, the best price is a root of the slope of V − λS
inside a cell, and the bound comes from halving cells (`pooled_halving`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.pooling._branch_and_bound import enclose
from smqopt.market.pooling._cells import Cells
from smqopt.market.pooling._chord_bounds import Bend
from smqopt.market.pooling._terms import PooledTerms, terms_of
from smqopt.numeric import ROUNDING, Floats, Indices, increasing_root

_MOST_PAIRS = 1 << 28
"""Different laws times prices of one group beyond this take minutes."""
_FIRST_CELLS = 128
"""A group with a law that bends is cut into about so many cells at first."""


@dataclass(frozen=True)
class Best:
    """The price of each group at which h = V − λS is largest; shape (G,) each."""

    price: Floats
    """In currency; −∞ where no offer is best."""
    spend: Floats
    """S at that price, in currency; from below the knot where the cell ends there."""
    height: Floats
    """h, in units of ε."""


@dataclass(frozen=True, eq=False)
class PooledCurves:
    """The curves of G groups."""

    terms: PooledTerms
    """Their laws."""
    cells: Cells
    """Group by group and by price, each group's first one being no offer and its last one of the
    highest price alone."""

    def best(self, budget_price: float) -> Best:
        """Give, for each group, the price at which V − λS is largest, for λ > 0.

        The lowest at a tie.

        On a cell where laws bend V − λS is taken to have one top at most. `refined` sees where that
        is wrong.
        """
        cells, price_of = self.cells, budget_price
        at_end = cells.height(price_of, 1.0)[0] > cells.height(price_of, 0.0)[0]
        t = np.where(cells.exact, cells.tops(price_of), at_end)
        height, size = cells.height(price_of, t)
        price, spend = np.full(height.size, np.nan), np.full(height.size, np.nan)  # where a root is the best
        cell, root = self._roots(price_of, np.flatnonzero(cells.ceilings(price_of)[0] > self.cells.largest(height)))
        if cell.size:
            there = self.terms.cells(cells.group[cell], root, root)
            risen, of_size = there.height(price_of, 0.0)
            better = risen > height[cell]
            cell, root, risen, of_size = cell[better], root[better], risen[better], of_size[better]
            height[cell], size[cell], price[cell], spend[cell] = risen, of_size, root, root * there.count[better]
        chosen = self.cells.first_of_largest(height)
        # at the end of a cell the next one begins, and is as good unless somebody's law jumps there
        following = np.minimum(chosen + 1, cells.price.size - 1)
        ends = np.isnan(price[chosen]) & (t[chosen] == 1.0) & (cells.width[chosen] > 0)
        begun = cells.height(price_of, 0.0)[0][following]
        goes_on = ends & (begun >= height[chosen] - ROUNDING.value * size[chosen])
        chosen, ends = np.where(goes_on, following, chosen), ends & ~goes_on
        t = np.where(goes_on, 0.0, t[chosen])
        inner = np.where(ends, np.nextafter(cells.end[chosen], 0.0), cells.price[chosen] + cells.width[chosen] * t)
        rooted = ~goes_on & ~np.isnan(price[chosen])
        paid = np.where(inner >= 0, inner, 0.0) * (cells.count[chosen] + t * cells.more_count[chosen])
        return Best(
            np.where(rooted, price[chosen], inner),
            np.where(rooted, spend[chosen], paid),
            np.where(goes_on, begun, height[chosen]),
        )

    def straighten(self) -> PooledCurves:
        """Return the curves that run straight where these bend.

        An approximation, whose best prices take no time.
        """
        none = np.zeros(self.cells.price.size)
        exact = np.ones(none.size, dtype=np.bool_)
        return PooledCurves(self.terms, replace(self.cells, privacy_error=none, count_error=none, exact=exact))

    def fullest(self) -> Best:
        """Give, for each group, the lowest price at which V is largest."""
        cell = self.cells.first_of_largest(self.cells.privacy)
        return Best(self.cells.price[cell], self.cells.base[cell] * self.cells.count[cell], self.cells.privacy[cell])

    def free(self) -> Best:
        """Return a price of 0 to each group that may have it, and no offer to the others."""
        cell = self.cells.first_of_largest(np.where(self.cells.price <= 0, self.cells.privacy, -1.0))
        return Best(self.cells.price[cell], np.zeros(cell.size), self.cells.privacy[cell])

    def bound(self, budget_price: float, others: float, share: float) -> Floats:
        """Bound max_p {V(p) − λS(p)} of each group from above, for 0 ≤ λ < ∞.

        In units of ε, shape (G,).

        Parameters
        ----------
        budget_price
            λ.
        others
            What else the bound on the optimum consists of, in units of ε, ≥ 0.
        share
            By how much the bound on the optimum may exceed the best that was found, relative to it;
            each group gets an equal part. The answer is a bound in any case.
        """
        return enclose(self.terms, self.cells, budget_price, others, share).top

    def refine(self, budget_price: float, others: float, share: float) -> PooledCurves:
        """Return the curves with a cell cut at each price better than `best` knows.

        The curves themselves where there is none.
        """
        found = enclose(self.terms, self.cells, budget_price, others, share)
        missed = np.flatnonzero(found.height > self.best(budget_price).height + found.allowed)
        if not missed.size:
            return self
        cells, cut = self.cells, found.price[missed]
        group = cells.group
        # the cell that a price lies in: one before the first cell of its group with a higher price
        at = np.array(
            [
                first + int(np.searchsorted(cells.price[first : first + count], p, side="right")) - 1
                for first, count, p in zip(
                    cells.start[missed].tolist(), np.bincount(group)[missed].tolist(), cut.tolist(), strict=True
                )
            ],
            dtype=np.intp,
        )
        low, high = cells.price[at], cells.end[at]
        rest = np.ones(group.size, dtype=np.bool_)
        rest[at] = False
        halves = self.terms.cells(np.tile(missed, 2), np.concatenate([low, cut]), np.concatenate([cut, high]))
        return PooledCurves(self.terms, cells.take(rest).join(halves))

    def free_privacy(self) -> Floats:
        """Return what each group sells at a price of 0, in units of ε, shape (G,)."""
        return np.asarray(
            np.maximum.reduceat(np.where(self.cells.price <= 0, self.cells.privacy, 0.0), self.cells.start)
        )

    def highest(self) -> Floats:
        """Return the highest price that each group may get, in currency, shape (G,).

        −∞ where it may get none.
        """
        return np.asarray(np.maximum.reduceat(self.cells.price, self.cells.start))

    def _roots(self, budget_price: float, cell: Indices) -> tuple[Indices, Floats]:
        """Return a price with level V − λS on each cell where it rises first, then falls."""
        cell = cell[~self.cells.exact[cell]]
        chosen = self.cells.take(cell)

        def falls(price: Floats, index: Indices) -> Floats:
            return -self.terms.slopes(chosen.take(index), price, budget_price)

        every = np.arange(cell.size)
        # the slope may be infinite in both ways: then look inside
        inside = np.flatnonzero(~(falls(chosen.price, every) > 0) & ~(falls(chosen.end, every) < 0))
        root = increasing_root(lambda price, k: falls(price, inside[k]), chosen.price[inside], chosen.end[inside])
        known = ~np.isnan(root)
        return cell[inside[known]], root[known]


def acceptance_at(market: Market, owners: Indices, price: Floats) -> Floats:
    """Return F_i at a price for each of some owners, one price an owner.

    0 below her support, −∞ meaning no offer, and 1 above it.
    """
    low, high = market.low[owners], market.high[owners]
    q = market.valuation.take(owners).cdf(np.clip(price, low, high))
    return np.where(price < low, 0.0, np.where(price >= high, 1.0, q))


def curves_of(market: Market, groups: Sequence[Indices], lists: Sequence[Floats | None], words: str) -> PooledCurves:
    """Return the curves of groups.

    Parameters
    ----------
    market
        The owners.
    groups
        The owners of each group.
    lists
        Each group's price list, increasing; None where any price may be offered.
    words
        The constraint, for an error text.

    Raises
    ------
    InputError
        If a group is too large.
    """
    terms = terms_of(market, groups)
    prices, ends = list[Floats](), list[Floats]()
    for number, listed in enumerate(lists):
        own = slice(terms.start[number], terms.start[number + 1])
        nodes = terms.knots[number] if listed is None else listed
        if listed is None and (terms.bend[own] > Bend.STRAIGHT).any():
            nodes = _subdivide(nodes, max(_FIRST_CELLS // nodes.size, 2))
        if nodes.size * int(terms.sizes[number]) > _MOST_PAIRS:
            raise InputError(
                f"constraint {words!r}",
                f"must leave at most {_MOST_PAIRS} pairs of a different law and a price to begin with in one group",
                value=nodes.size * int(terms.sizes[number]),
                remedy="split the group, or list the prices (PriceMenu)",
            )
        prices.append(np.append(-np.inf, nodes))
        ends.append(np.append(-np.inf, nodes if listed is not None else np.append(nodes[1:], nodes[-1])))
    group = np.repeat(np.arange(len(groups)), [each.size for each in prices])
    return PooledCurves(terms, terms.cells(group, np.concatenate(prices), np.concatenate(ends)))


def _subdivide(knots: Floats, pieces: int) -> Floats:
    """Put prices between knots, a number of equal pieces to a gap."""
    if knots.size < 2:
        return knots
    share = np.arange(pieces) / pieces
    inner = knots[:-1, np.newaxis] + np.diff(knots)[:, np.newaxis] * share
    return np.unique(np.append(inner, knots[-1]))
