"""Slopes above what blocks are worth at their best lotteries.

Where one price each is posted.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, minimize

from smqopt.market import Statement, Utility
from smqopt.numeric import Floats

_ROUNDS, _EVEN = 12, 9
"""Times that prices are added, and even ones to begin with."""
_NEAR = 2.0**-20
"""A top that is above the lottery by less, relative to the terms, ends the search; a bound that is
lower by less is none."""
_ROUNDING = 2.0**-44
"""What a block's bound is off by in doubles, relative to its terms."""
_FINE = 2.0**-40
"""How near the best lottery is sought, relative to what it gains."""
_LEAST = 2.0**-30
"""Of acceptances, for objectives without a value at 0."""


def lower_slopes(
    statement: Statement, utility: Utility, either: tuple[Floats, Floats], terms: tuple[Floats, Floats]
) -> Floats:
    """Return those of two slopes that bound each block lower.

    The first where they are alike. Parameters are as for `slopes_at_lotteries`.
    """
    first, other = either
    blocks = statement.blocks
    assert blocks is not None  # noqa: S101
    if not np.isfinite(other).all() or not np.isfinite(first).all():
        return first
    (least, size, _), (found, _, _) = (_bounds(statement, utility, each, terms) for each in either)
    return np.where((found < least - _ROUNDING * size)[blocks.of_row[blocks.rows]], other, first)


def _bounds(
    statement: Statement, utility: Utility, slopes: Floats, terms: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Return what slopes bound each block by, its terms, and its best price."""
    blocks, m, (taken, p) = statement.blocks, statement.weights(), terms
    assert blocks is not None  # noqa: S101
    rows, worth = blocks.rows, np.zeros(m.size)
    worth[rows] = slopes - taken[rows]
    height, size = np.zeros((2, blocks.count))
    for total, each in zip((height, size), utility.take(rows).tangent(slopes), strict=True):
        np.add.at(total, blocks.of_row[rows], m[rows] * each)
    found = blocks.enclose(m * worth, m * p, _NEAR / 4 * float(np.max(size)))
    return height + found.height, size + np.abs(found.height), found.price


def slopes_at_lotteries(
    statement: Statement, utility: Utility, e: Floats, terms: tuple[Floats, Floats], posted: Floats
) -> Floats:
    """Return slopes that bound blocks as nearly as lotteries allow.

    By column generation. One posted price each is not the optimum of lotteries, and lines that
    touch there bound poorly. Any slopes give a bound; a block keeps its own where these are no
    better.

    Parameters
    ----------
    statement, utility
        Rows in blocks, and φ of its n′ rows.
    e
        Slopes of the rows in blocks, in their order.
    terms
        What rows take of each utility, and prices; shape (n′,) each.
    posted
        What is posted to the rows in blocks, in currency; NaN for no offer.
    """
    blocks = statement.blocks
    assert blocks is not None  # noqa: S101
    of = blocks.of_row[blocks.rows]

    def bounds(slopes: Floats) -> tuple[Floats, Floats, Floats]:
        return _bounds(statement, utility, slopes, terms)

    best, open_ended = e.copy(), ~np.isfinite(e)
    least, _, first = bounds(np.where(open_ended, 0.0, e))
    least[of[open_ended]] = np.inf  # somebody without whom there is no value
    known = [
        np.unique(np.concatenate([posted[of == g], [first[g]], _start(blocks.lists[g], blocks.nodes[g])]))
        for g in range(blocks.count)
    ]
    for _ in range(_ROUNDS):
        slopes, value = e.copy(), np.zeros(blocks.count)
        for g in range(blocks.count):
            slopes[of == g], value[g] = _of_lottery(statement, utility, g, known[g][np.isfinite(known[g])], terms)
        if not np.isfinite(slopes).all():
            break
        found, size, price = bounds(slopes)
        better = found < least - _NEAR * size  # else its own ones, which are exact where nothing is drawn
        best, least = np.where(better[of], slopes, best), np.where(better, found, least)
        missed = np.flatnonzero((found - value > _NEAR * size) & np.isfinite(price))
        if not missed.size:
            break
        for g in missed.tolist():
            known[g] = np.unique(np.append(known[g], price[g]))
    return best


def _start(listed: Floats | None, nodes: Floats) -> Floats:
    return np.linspace(nodes[0], nodes[-1], _EVEN) if listed is None and nodes.size else np.asarray(nodes)


def _of_lottery(
    statement: Statement, utility: Utility, g: int, price: Floats, terms: tuple[Floats, Floats]
) -> tuple[Floats, float]:
    """Return φ′ at the best lottery over prices of a block, and what it gains."""
    blocks, m, (taken, p) = statement.blocks, statement.weights(), terms
    assert blocks is not None  # noqa: S101
    mine = blocks.rows[blocks.of_row[blocks.rows] == g]
    node, row, F = blocks.acceptance(np.full(price.size, g, dtype=np.intp), price)
    use = np.zeros((price.size, m.size))
    np.add.at(use, (node, row), F)
    use = use[:, mine]
    cost = (use * (taken[mine] + p[mine] * price[:, np.newaxis])) @ m[mine]
    few = utility.take(mine)

    def q(x: Floats) -> Floats:
        return np.clip(x @ use, _LEAST, 1.0)

    def loss(x: Floats) -> float:
        return float(cost @ x - np.sum(m[mine] * few.value(q(x)))) / unit

    def slope(x: Floats) -> Floats:
        return np.asarray(cost - use @ (m[mine] * few.slope(q(x)))) / unit

    even: Floats = np.full(price.size, 1.0 / (price.size + 1.0))
    unit = 1.0
    unit = abs(loss(even)) or 1.0
    room = LinearConstraint(np.ones((1, price.size)), -np.inf, 1.0)
    ends, options = Bounds(np.zeros(price.size), np.ones(price.size)), {"ftol": _FINE, "maxiter": 200}
    found = minimize(loss, even, jac=slope, method="SLSQP", bounds=ends, constraints=[room], options=options)  # type: ignore[call-overload]
    return few.slope(q(found.x)), -unit * loss(found.x)
