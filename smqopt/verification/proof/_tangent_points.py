"""Where a proof draws its tangents: any choice holds, a good one is tight.

With constraints and a concave objective the weak-duality bound is, for every λ ≥ 0, all multipliers
y, whatever slopes e_i and shifts σ_k,

    λB + y·r + Σ_i m_i φ_i*(e_i) + Σ_k M_k [max_q {(ē_k − a_k + σ_k) q − p_k C̄_k(q)} − σ_k l_k],

with ē_k the mean of e_i over the owners of row k, and l_k her lowest acceptance where σ_k > 0, her
highest where σ_k < 0: bounds of acceptance have multipliers too, so the maximum runs over the whole
curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Linear, PurchasedPrivacy, Solution, Statement
from smqopt.numeric import ROUNDING, Floats
from smqopt.valuation import iron
from smqopt.verification.checks._concave import slopes_above, slopes_of_blocks
from smqopt.verification.checks._weak_duality import offers_at_price, tangent_slopes

NEAR = 64
"""Spacings of doubles within which a threshold is near enough to where its price would have it to
be touched itself."""


@dataclass(frozen=True, eq=False)
class TangentPoints:
    """What was chosen."""

    slope: Floats
    """e_i of each owner, shape (n,)."""
    shift: Floats
    """σ_k of each row, shape (n′,)."""
    threshold: Floats
    """Where her Lagrangian is touched, in currency; shape (n′,)."""


def tangent_points(solution: Solution, statement: Statement | None, first: NDArray[np.intp]) -> TangentPoints:
    """Choose for the price and the multipliers of a solution, 0 ≤ λ < ∞.

    Parameters
    ----------
    solution
        What is to be proved.
    statement
        Its side constraints, or None.
    first
        The first owner of each row.
    """
    market, price = solution.market, solution.budget_price
    utility = solution.objective.utility(market)
    n = market.n
    if statement is None and isinstance(solution.objective, PurchasedPrivacy):
        shift, threshold = np.zeros(n), offers_at_price(market, price)[0] if price > 0 else solution.thresholds
        return TangentPoints(market.epsilon, shift, _at_offers(threshold, solution.thresholds))
    if statement is None:
        reduced, of_rows, taken, p = market, utility, np.zeros(n), np.full(n, price)
        bounds = np.zeros(n), np.ones(n)
    else:
        reduced, of_rows, bounds = (
            statement.reduced,
            statement.utility(solution.objective),
            (statement.lowest, statement.highest),
        )
        taken, p = statement.charge(price, solution.constraint_prices)
    slopes = of_rows.each if isinstance(of_rows, Linear) else slopes_above(reduced, of_rows, taken, p, bounds)
    if statement is not None and statement.blocks is not None and not isinstance(of_rows, Linear):
        slopes[statement.blocks.rows] = slopes_of_blocks(statement, of_rows, solution, taken, p)
    e, free = slopes - taken, p <= 0
    shift, threshold = np.empty(reduced.n), np.empty(reduced.n)
    for law, rows in reduced.valuation.parts():
        surely = bounds[0][rows] >= 1  # their terms are known, without a slope
        ends = np.where(surely, 0.0, bounds[0][rows]), np.where(surely, 1.0, bounds[1][rows])
        v, held = tangent_slopes(law, e[rows], np.where(free[rows], 1.0, p[rows]), *ends)
        threshold[rows] = iron(law).offer(v.copy())[0]
        shift[rows] = np.where(held, p[rows] * v - e[rows], 0.0)
    bounded = ((bounds[0] > 0) & (bounds[0] < 1)) | (bounds[1] < 1)
    shift = np.where(free, np.where(bounded, -e, 0.0), shift)
    if statement is not None and np.any(unsold := statement.fixed.unsold & (bounds[1] <= 0)):
        shift[unsold] -= _charges(statement, solution.constraint_prices)[unsold]
    if statement is not None and statement.row_of_owner is not None:
        row = statement.row_of_owner
        slopes = utility.each if isinstance(utility, Linear) else utility.slope(of_rows.where_slope_is(slopes)[row])
    return TangentPoints(slopes, shift, _at_offers(threshold, solution.thresholds[first]))


def _charges(statement: Statement, multipliers: Floats) -> Floats:
    """Return what rows charge utilities, if all who are named in them count.

    Shape (n′,). The statement leaves those out who never sell. Their acceptance has a bound of 0
    itself, so that any shift of theirs costs nothing.
    """
    rows = abs(statement.owner_rows()[0])
    charged = rows.T @ np.abs(multipliers[: rows.shape[0]])
    row = np.arange(charged.size) if statement.row_of_owner is None else statement.row_of_owner
    total = np.bincount(row, weights=charged, minlength=statement.reduced.n)
    return np.asarray((1.0 + ROUNDING.value) * total / statement.weights())


def _at_offers(threshold: Floats, offered: Floats) -> Floats:
    """Touch at what is offered where that is near."""
    return np.where(np.abs(threshold - offered) <= NEAR * np.spacing(offered), offered, threshold)
