"""How much a law can sell at best, bounded from values of F alone.

On a cell of prices [a, b] nothing but a monotone F gives (v − p)F(p) ≤ (v − a)F(b) for v ≥ a. Cells
that could hold more than the best price seen, by more than is allowed, are halved until none is
left, or the work is done; the bound that was reached holds in any case, as far as the values of F
do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.valuation.law._base import Valuation

FIRST_CELLS = 64
"""Even cells in θ to begin with, beside those between knots."""
MOST_CELLS = 1 << 25
"""Cells that are looked at in all."""
MOST_FOR_ONE = 1 << 16
"""Cells that are looked at for one of many owners."""
BLOCK = 1 << 7
"""Owners whose cells are held at once."""


@dataclass(frozen=True)
class CellBound:
    """Bounds of max_p (v − p)F(p) over prices; shape (m,) each, in currency."""

    upper: Floats
    """No price is better, whatever F hides between the prices seen."""
    lower: Floats
    """What the best price seen gives; 0 is no offer."""
    price: Floats
    """That price, in currency; low where no offer is best."""
    cells: int
    """How many cells were looked at."""


def bound_by_cells(
    law: Valuation, v: Floats, allowed: float, floor: Floats | None = None, ceiling: Floats | None = None
) -> CellBound:
    """Bound max_p (v − p)F(p) from values of F alone, by halving cells of prices.

    Parameters
    ----------
    law
        Common, or one law for each v; F is taken not to fall, and nothing else.
    v
        ε/λ of each owner, in currency, shape (m,).
    allowed
        By how much a bound may exceed what the best price seen gives, relative to the bound. Cells
        are halved until it does, or there are no doubles between, or the work is done.
    floor, ceiling
        The prices that may be offered, shape (m,) each; all where not given. Prices above the
        support are dearer than its end, and sell no more.

    Returns
    -------
    CellBound
        For each owner.

    Examples
    --------
    >>> from smqopt import Uniform
    >>> found = bound_by_cells(Uniform(0, 1), np.array([1.0]), 1e-6)
    >>> bool(0.25 <= found.upper[0] <= 0.25 * (1 + 1e-6)), float(found.lower[0])
    (True, 0.25)
    """
    least = np.broadcast_to(np.asarray(law.low if floor is None else np.maximum(law.low, floor)), v.shape)
    most = np.broadcast_to(np.asarray(law.high if ceiling is None else np.minimum(law.high, ceiling)), v.shape)
    found = []
    for start in range(0, v.size, BLOCK):
        part = np.arange(start, min(start + BLOCK, v.size))
        own = law if law.size is None else law.take(part)
        budget = min(MOST_CELLS // v.size, MOST_FOR_ONE) * part.size if v.size > 1 else MOST_CELLS
        found.append(_bound(own, v[part], least[part], most[part], allowed, budget))
    upper, lower, price = (np.concatenate(column) for column in zip(*(each[:3] for each in found), strict=True))
    return CellBound(upper, lower, price, sum(each[3] for each in found))


def _bound(
    law: Valuation, v: Floats, least: Floats, most: Floats, allowed: float, budget: int
) -> tuple[Floats, Floats, Floats, int]:
    m = v.size
    knots = law.knots() if law.size is not None else np.broadcast_to(law.knots()[:, None], (law.knots().size, m))
    share = np.linspace(0.0, 1.0, FIRST_CELLS + 1)[:, np.newaxis]
    grid = np.sort(np.clip(np.vstack([least + (most - least) * share, knots]), least, most), axis=0)
    whose = np.broadcast_to(np.arange(m), grid.shape)
    F = _cdf(law, grid.ravel(), whose.ravel()).reshape(grid.shape)
    height = np.where(F > 0, (v - grid) * F, 0.0)
    best = np.maximum(height.max(axis=0, initial=0.0), 0.0)
    at = np.take_along_axis(grid, height.argmax(axis=0)[np.newaxis], axis=0)[0]
    price = np.where(best > 0, at, least)
    owner, a, b, F_b = (column.ravel() for column in (whose[1:], grid[:-1], grid[1:], F[1:]))
    closed, looked_at = best.copy(), owner.size
    while owner.size:
        top = np.maximum(v[owner] - a, 0.0) * F_b
        middle = 0.5 * (a + b)
        open_ = top > best[owner] + allowed * top
        ends = ~((middle > a) & (middle < b))  # no double lies between: the cell is its two ends
        done = ~open_ | ends
        # between two neighbouring doubles no price can be posted; both ends were seen
        settled = done & ~(open_ & ends)
        np.maximum.at(closed, owner[settled], top[settled])
        owner, a, b, F_b, top, middle = (x[~done] for x in (owner, a, b, F_b, top, middle))
        if looked_at + 2 * owner.size > budget:
            np.maximum.at(closed, owner, top)
            break
        F_middle = _cdf(law, middle, owner)
        height = (v[owner] - middle) * F_middle
        order = np.lexsort((height, owner))
        last = order[np.append(owner[order][1:] != owner[order][:-1], True)] if order.size else order
        better = last[height[last] > best[owner[last]]]
        best[owner[better]], price[owner[better]] = height[better], middle[better]
        owner, a, b, F_b = (
            np.concatenate(pair) for pair in ((owner, owner), (a, middle), (middle, b), (F_middle, F_b))
        )
        looked_at += owner.size
    return np.maximum(closed, best), best, price, looked_at


def _cdf(law: Valuation, theta: Floats, owner: Indices) -> Floats:
    return (law if law.size is None else law.take(owner)).cdf(theta)
