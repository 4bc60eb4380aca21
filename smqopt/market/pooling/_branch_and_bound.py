"""A bound on what blocks gain at any price: cells are halved (branch and bound).

Until none could hold much more than the best value found. A block with a bound of first order alone
needs many cells and is worked on by itself; the others are halved together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market.pooling._cells import Cells
from smqopt.market.pooling._chord_bounds import Bend
from smqopt.market.pooling._terms import LawTerms
from smqopt.numeric import Floats, Indices, work_left

_OF_SECOND_ORDER = 2.0**-8
"""What a bound of second order is made nearer by than is asked; a few more cells are enough."""
_MOST_HALVINGS = 256
_MOST_WORK = 1 << 24
"""Different laws times cells that one pass may halve; beyond, the bound stays as it is, and a
certificate says how wide its gap is."""
_OF_WHAT_IS_LEFT = 16
"""A pass takes one part in so many of the work that is left, so that something is for others."""
_OF_SERIES, _PART_OF_SERIES = 8_000, 4
"""What a law is counted on a cell where laws are added up first, and the part of what is left that
one pass of these may take."""
_FEW_CELLS = 32
"""Where more of a block stay hopeful, what its laws gain is added up before it is bounded."""
_SMALLER = 0.5
"""A cell whose cheap end has less of its terms is halved for its roundings."""
_WIDE = 4.0
"""A cell whose ends have a larger ratio is cut at their geometric mean."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """The largest h of each block from both sides; shape (G,) each."""

    top: Floats
    """No price has more; at least 0, which no offer has."""
    height: Floats
    """The largest that was found,"""
    price: Floats
    """and where, in currency; −∞ for no offer."""
    allowed: Floats
    """How far the two might lie apart."""


def enclose(terms: LawTerms, cells: Cells, a: Floats, c: Floats, allowed: float) -> Enclosure:
    """Bound the largest h of each block.

    Parameters
    ----------
    terms
        The laws of G blocks.
    cells
        The cells of all prices that may be posted, in order of block and price.
    a, c
        What one more acceptance of each term is worth, and what a payment costs; (T,).
    allowed
        How far the bound of a block may lie above the best price found: nearer takes more time.
    """
    count = terms.sizes.size
    height, price = np.zeros(count), np.full(count, -np.inf)
    _raise(height, price, cells.group, cells.height(0.0), cells.price)
    wide = cells.end > cells.price
    inner = np.where(wide, np.nextafter(cells.end, 0.0), cells.price)
    _raise(height, price, cells.group, np.where(wide, cells.height(1.0), -np.inf), inner)
    loose = np.zeros(count, dtype=np.bool_)
    np.logical_or.at(loose, np.repeat(np.arange(count), terms.sizes), terms.bend == Bend.RISING)
    best = Enclosure(np.zeros(count), height, price, np.where(loose, allowed, _OF_SECOND_ORDER * allowed))
    for groups in _passes(loose):
        _halve(terms, cells.take(groups[cells.group]), (a, c), best)
    return best


def _raise(height: Floats, price: Floats, group: Indices, found: Floats, at: Floats) -> None:
    """Write down higher heights and their prices."""
    better = np.flatnonzero(found > height[group])
    better = better[np.argsort(found[better], kind="stable")]
    height[group[better]], price[group[better]] = found[better], at[better]  # the last one stays


def _passes(loose: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    every = np.arange(loose.size)
    for group in np.flatnonzero(loose).tolist():
        yield every == group
    if not loose.all():
        yield ~loose


def _halve(terms: LawTerms, cells: Cells, worth: tuple[Floats, Floats], best: Enclosure) -> None:
    """Halve cells until none could exceed the largest height by more than is allowed.

    Writes down bounds, heights and prices.
    """
    work = 0
    for _ in range(_MOST_HALVINGS):
        ceiling, rounding = cells.ceilings()
        middle = _middle(cells)
        hopeful = _could_be_lower(cells, ceiling, rounding, cells.error, best)
        hopeful &= (cells.price < middle) & (middle < cells.end)
        several = np.bincount(cells.group[hopeful], minlength=terms.sizes.size) > _FEW_CELLS
        of = np.flatnonzero(hopeful & ~cells.exact & several[cells.group])
        if int(terms.sizes[cells.group[of]].sum()) * _OF_SERIES > work_left() // _PART_OF_SERIES:
            of = of[:0]
        ceiling[of] = np.fmin(ceiling[of], terms.by_series(cells.take(of), *worth) + rounding[of])
        hopeful[of] &= _could_be_lower(cells.take(of), ceiling[of], rounding[of], 0.0 * rounding[of], best)
        work += int(terms.sizes[cells.group[hopeful]].sum())
        if work > min(_MOST_WORK, work_left() // _OF_WHAT_IS_LEFT):
            hopeful[:] = False
        np.maximum.at(best.top, cells.group[~hopeful], (ceiling + rounding)[~hopeful])
        exact = cells.exact & (ceiling > best.height[cells.group])
        at = cells.tops()
        _raise(
            best.height,
            best.price,
            cells.group[exact],
            cells.height(at)[exact],
            np.minimum(cells.price + cells.width * at, np.where(at > 0, np.nextafter(cells.end, 0.0), np.inf))[exact],
        )
        if not hopeful.any():
            return
        group = cells.group[hopeful]
        low, cut, high = (each[hopeful] for each in (cells.price, middle, cells.end))
        ends = np.concatenate([low, cut]), np.concatenate([cut, high])
        cells = terms.cells(np.tile(group, 2), *ends, *worth)
        _raise(best.height, best.price, group, cells.height(0.0)[group.size :], cut)
    ceiling, rounding = cells.ceilings()
    np.maximum.at(best.top, cells.group, ceiling + rounding)


def _could_be_lower(
    cells: Cells, ceiling: Floats, rounding: Floats, error: Floats, best: Enclosure
) -> NDArray[np.bool_]:
    """Say which cells' bounds halving may lower: by their errors, or their roundings.

    The dear end of a cell, a straight one too, may make its roundings large.
    """
    above, allowed = ceiling - best.height[cells.group], best.allowed[cells.group]
    finer = (error > rounding) | (cells.least_size < _SMALLER * cells.size)
    by_rounding = (rounding > allowed) & (above + rounding > allowed) & finer
    return by_rounding | ~cells.exact & (above > np.maximum(allowed, 4.0 * rounding))


def _middle(cells: Cells) -> Floats:
    low, high = cells.price, cells.end
    wide = (low > 0) & (high > _WIDE * low)
    return np.where(wide, np.sqrt(low) * np.sqrt(high), low + 0.5 * (high - low))
