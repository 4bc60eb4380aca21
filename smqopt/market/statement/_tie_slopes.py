"""Slopes of lines above what acceptance is worth at which draws are ties."""

from __future__ import annotations

import numpy as np

from smqopt.market.objectives._utility import Utility
from smqopt.market.statement._statement import Statement
from smqopt.numeric import Floats, Indices, Mask


def tie_slopes(
    statement: Statement,
    utility: Utility,
    acceptance: Floats,
    lots: tuple[Indices, Floats],
    idle: Mask,
    terms: tuple[Floats, Floats],
) -> Floats:
    """Return φ′(q), moved so that all that a block draws is as good.

    Where a block draws, all its prices are best at the e of the optimum; they are not at φ′(q) to
    the last digits, and a bound would show that in the first order. Moves are largest where φ
    bends much: there a slope that is off costs little.

    Parameters
    ----------
    statement, utility
        Rows in blocks, and φ of its n′ rows.
    acceptance
        q, shape (n′,).
    lots
        Blocks and prices that are drawn; arrays of one length.
    idle
        Which blocks draw no offer too.
    terms
        What rows take of each utility, and prices; shape (n′,) each.

    Returns
    -------
    array
        e of the rows in blocks, in their order; as φ′(q) where that is not finite.
    """
    blocks, m, (taken, p) = statement.blocks, statement.weights(), terms
    assert blocks is not None  # noqa: S101
    rows, (group, price) = blocks.rows, lots
    e, bend, few = np.zeros(statement.reduced.n), np.zeros(statement.reduced.n), utility.take(rows)
    with np.errstate(over="ignore"):  # of a first acceptance, where no offer has no value
        e[rows] = few.slope(acceptance[rows])
    bend[rows] = np.sqrt(few.curvature(acceptance[rows]))
    bend[~np.isfinite(bend)] = 0.0
    if not np.isfinite(e).all():
        return e[rows]
    for g in np.unique(group).tolist():
        drawn = np.unique(price[group == g])
        if drawn.size + idle[g] < 2:
            continue
        mine = rows[blocks.of_row[rows] == g]
        node, row, F = blocks.acceptance(np.full(drawn.size, g), drawn)
        use = np.zeros((drawn.size + 1, statement.reduced.n))  # the last one is no offer
        np.add.at(use, (node, row), F)
        use = m[mine] * use[:, mine]
        height = use @ (e[mine] - taken[mine]) - (np.append(drawn, 0.0)[:, np.newaxis] * use) @ p[mine]
        if not idle[g]:
            use, height = use[:-1], height[:-1]
        # a move loses half of its square, and a price that does not tie what it is off by
        U, s, Vt = np.linalg.svd((use[1:] - use[:1]) * bend[mine], full_matrices=False)
        off = U.T @ (height[0] - height[1:])
        kept = s**2 > 0.5 * np.abs(off)
        e[mine] += bend[mine] * (Vt[kept].T @ (off[kept] / s[kept]))
    return e[rows]
