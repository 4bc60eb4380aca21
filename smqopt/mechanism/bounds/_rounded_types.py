"""Finitely many types in place of a law: valuations rounded to cell ends.

Cell k of an owner holds the valuations in (t_{k−1}, t_k], the first also t_0 = θ̲; t_m = θ̄.
Rounded up, all of cell k have valuation t_k; rounded down, t_{k−1}. Each F(t_k) is moved the same
way, by as much as a cdf may be wrong in doubles, so that the types are dearer, or cheaper, than the
law itself and not only than its doubles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.market import Market
from smqopt.numeric import ACCEPTANCE, Floats
from smqopt.valuation import Valuation

_FINER = 8
"""How many points of the grid on which cells are laid out fall into a cell."""


@dataclass(frozen=True, eq=False)
class Types:
    """The types of one owner, all with positive probability."""

    valuation: Floats
    """v_1 ≤ v_2 ≤ … ≤ v_m, shape (m,), in currency."""
    probability: Floats
    """p_k > 0, shape (m,)."""


def cell_edges(market: Market, cells: int) -> list[tuple[Floats, Floats]]:
    """Lay out each owner's cells, even in the mean of valuation and quantile.

    So no cell is wide, and none is heavy; for a uniform law they are even. The bounds hold for any
    edges, so these need no accuracy.

    Returns
    -------
    list
        For each of the n rows t_0 ≤ … ≤ t_m, in currency, and F(t_0), …, F(t_m), of shape (m+1,)
        each.
    """
    rows: list[tuple[Floats, Floats]] = []
    laws = [(law, np.arange(market.n)[index]) for law, index in market.valuation.parts()]
    by_row: dict[int, tuple[Floats, Floats]] = {}
    for law, index in laws:
        common = _edges(law, cells) if law.size is None else None
        for place, row in enumerate(index.tolist()):
            one = np.array([place], dtype=np.intp)
            by_row[row] = common if common is not None else _edges(law.take(one), cells)
    rows.extend(by_row[row] for row in range(market.n))
    return rows


def _edges(law: Valuation, cells: int) -> tuple[Floats, Floats]:
    low, high = float(np.ravel(law.low)[0]), float(np.ravel(law.high)[0])
    even = np.linspace(0.0, 1.0, _FINER * cells + 1)
    column = even[:, np.newaxis] if law.size is not None else even
    grid = np.concatenate([low + (high - low) * even, np.ravel(law.ppf(column))])
    grid = np.unique(np.clip(grid, low, high))
    place = 0.5 * ((grid - low) / ((high - low) or 1.0) + _cdf(law, grid))
    edges = np.interp(np.linspace(place[0], place[-1], cells + 1), place, grid)
    edges[0], edges[-1] = low, high
    edges = np.maximum.accumulate(edges)
    mass_below = np.maximum.accumulate(_cdf(law, edges))
    mass_below[-1] = 1.0
    return edges, mass_below


def _cdf(law: Valuation, theta: Floats) -> Floats:
    return np.ravel(law.cdf(theta[:, np.newaxis] if law.size is not None else theta))


def rounded_up(edges: Floats, mass_below: Floats) -> Types:
    """Round valuations up to the ends of cells: dearer, so no mechanism buys more."""
    least = np.maximum(mass_below - ACCEPTANCE.value, 0.0)
    least[-1] = 1.0
    return _types_with_mass(edges[1:], least)


def rounded_down(edges: Floats, mass_below: Floats) -> Types:
    """Round valuations down to the starts of cells: cheaper, so none buys less."""
    return _types_with_mass(edges[:-1], np.minimum(mass_below + ACCEPTANCE.value, 1.0))


def _types_with_mass(valuation: Floats, mass_below: Floats) -> Types:
    mass = np.diff(mass_below)
    mass[0] += mass_below[0]  # the first cell holds its lower end too
    kept = mass > 0
    return Types(valuation[kept].copy(), mass[kept])
