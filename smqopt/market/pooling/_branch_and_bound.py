"""A bound on what groups gain at any common price.

Cells are halved until none could hold much more than the best value found (branch and bound).

A group with a bound of first order alone needs many cells and is worked on by itself; the others
are halved together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market.pooling._cells import Cells
from smqopt.market.pooling._chord_bounds import Bend
from smqopt.market.pooling._terms import PooledTerms
from smqopt.numeric import Floats

_OF_SECOND_ORDER = 2.0**-8
"""What a bound of second order is made nearer by than is asked; a few more cells are enough."""
_MOST_HALVINGS = 256
_MOST_WORK = 1 << 24
"""Different laws times cells that one pass may halve; beyond, the bound stays as it is, and a
certificate says how wide its gap is."""
_WIDE = 4.0
"""A cell whose ends have a larger ratio is cut at their geometric mean."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """The largest V − λS of each group from both sides; shape (G,) each."""

    top: Floats
    """No price has more, in units of ε."""
    height: Floats
    """The largest that was found,"""
    price: Floats
    """and where, in currency."""
    allowed: Floats
    """How far the two might lie apart."""


def enclose(terms: PooledTerms, cells: Cells, budget_price: float, others: float, share: float) -> Enclosure:
    """Bound the largest V − λS of each group.

    Parameters
    ----------
    terms
        The laws of G groups.
    cells
        Their cells to begin with, in order of group and price.
    budget_price
        λ, 0 ≤ λ < ∞.
    others
        What else the bound on the optimum consists of, in units of ε, ≥ 0.
    share
        By how much the bound on the optimum may exceed the best that was found, relative to it;
        each group gets an equal part.
    """
    found = cells.height(budget_price, 0.0)[0]
    first = cells.first_of_largest(found)
    height, price = found[first], cells.price[first]
    end = cells.height(budget_price, 1.0)[0]
    at_end = cells.first_of_largest(end)
    price = np.where(end[at_end] > height, np.nextafter(cells.end[at_end], 0.0), price)
    height = np.maximum(height, end[at_end])
    each = share * (max(others, 0.0) + float(height.sum())) / height.size
    loose = _loose(terms)
    best = Enclosure(np.full(height.size, -np.inf), height, price, np.where(loose, each, _OF_SECOND_ORDER * each))
    for groups in _passes(loose):
        _halve(terms, cells.take(groups[cells.group]), budget_price, best)
    return best


def _passes(loose: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    every = np.arange(loose.size)
    for group in np.flatnonzero(loose).tolist():
        yield every == group
    if not loose.all():
        yield ~loose


def _loose(terms: PooledTerms) -> NDArray[np.bool_]:
    """Say which groups have a bound of first order alone."""
    loose = np.zeros(terms.sizes.size, dtype=np.bool_)
    np.logical_or.at(loose, np.repeat(np.arange(loose.size), terms.sizes), terms.bend == Bend.RISING)
    return loose


def _halve(terms: PooledTerms, cells: Cells, budget_price: float, best: Enclosure) -> None:
    """Halve cells until none could exceed the largest height by more than is allowed.

    Writes down bounds, heights and prices.
    """
    top, height, price, allowed = best.top, best.height, best.price, best.allowed
    work = 0
    for _ in range(_MOST_HALVINGS):
        ceiling, rounding = cells.ceilings(budget_price)
        middle = _middle(cells)
        hopeful = ceiling > height[cells.group] + np.maximum(allowed[cells.group], 4.0 * rounding)
        hopeful &= ~cells.exact & (cells.price < middle) & (middle < cells.end)
        work += int(terms.sizes[cells.group[hopeful]].sum())
        if work > _MOST_WORK:
            hopeful[:] = False
        np.maximum.at(top, cells.group[~hopeful], (ceiling + rounding)[~hopeful])
        if not hopeful.any():
            return
        group, low, cut, high = (each[hopeful] for each in (cells.group, cells.price, middle, cells.end))
        ends = np.concatenate([low, cut]), np.concatenate([cut, high])
        cells = terms.cells(np.tile(group, 2), *ends, budget_price)
        found = cells.height(budget_price, 0.0)[0][group.size :]
        better = np.flatnonzero(found > height[group])
        better = better[np.argsort(found[better], kind="stable")]
        height[group[better]], price[group[better]] = found[better], cut[better]  # the last one stays
    ceiling, rounding = cells.ceilings(budget_price)
    np.maximum.at(top, cells.group, ceiling + rounding)


def _middle(cells: Cells) -> Floats:
    low, high = cells.base, np.maximum(cells.end, 0.0)
    wide = (low > 0) & (high > _WIDE * low)
    return np.where(wide, np.sqrt(low) * np.sqrt(high), low + 0.5 * (high - low))
