"""Common prices by brute force: what groups sell and cost at a grid of prices, straight from the laws, and the best lotteries between them by HiGHS."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

FINE = 500
"""From so many steps on the grid is closer together above the low end of each support."""


def grid_of(m, steps):
    top = float(m.high.max())
    knots = np.unique([np.arange(0, 61) / 20, np.arange(0, 61) / 15])
    knots = np.concatenate([knots[knots <= top], m.low, m.high])
    if steps < FINE:
        return np.unique(np.concatenate([np.linspace(0, top, steps), knots, np.nextafter(knots, 0)]))
    fine = np.concatenate([np.linspace(0, top, steps), *(low + (top - low) * np.logspace(-4, 0, 40) for low in m.low)])
    return np.unique(np.concatenate([fine, knots, np.nextafter(knots, 0)]))


def tables(m, steps=401):
    """V and S of each group at a grid of common prices; the first price is no offer."""
    grid = grid_of(m, steps)
    F = np.array([m.valuation.cdf(np.clip(price, m.low, m.high)) for price in grid])
    F = np.where(grid[:, None] < m.low, 0.0, np.where(grid[:, None] >= m.high, 1.0, F))
    labels = np.asarray(m.groups["city"])
    for label in np.unique(labels):
        mine = labels == label
        V = (F * m.multiplicity * m.epsilon)[:, mine].sum(axis=1)
        yield np.append(0.0, V), np.append(0.0, grid * (F * m.multiplicity)[:, mine].sum(axis=1))


def best_on_grid(m, budget, steps=401):
    """The optimum over lotteries between the prices of the grid."""
    curves = list(tables(m, steps))
    V, S = (np.concatenate([curve[k] for curve in curves]) for k in (0, 1))
    shares = np.zeros((len(curves), V.size))
    start = 0
    for k, (values, _) in enumerate(curves):
        shares[k, start : start + values.size] = 1.0
        start += values.size
    found = linprog(-V, A_ub=S[None], b_ub=[budget], A_eq=shares, b_eq=np.ones(len(curves)), method="highs")
    return -found.fun
