"""A program around offers.

What more acceptance is worth and costs there, the budget, and what is linear, along the tangents of
the cost curves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.market import Objective, Statement, units_of
from smqopt.numeric import Floats
from smqopt.solvers.structured._response import Owners

_STEP = 2.0**-18
"""In acceptance, for the slope of a cost curve."""
_WIDE = 2.0**-10
"""In acceptance, for its curvature."""
_OF_A_KINK = 2.0**-2
"""Share of the change of slope over the wide steps that falls into the narrow ones: of a kink all,
of a smooth curve next to nothing."""


@dataclass(frozen=True)
class Standing:
    """Offers, and what the constraints take there."""

    acceptance: Floats
    """Shape (n,)."""
    taken: tuple[Floats, Floats]
    """Of acceptance and of spend, in currency; shape (n,) each."""
    price: float
    """λ."""
    linear: Floats
    """The multipliers of the linear rows."""


@dataclass(frozen=True)
class Local:
    """A program around offers, linear and separable but for convex constraints.

    Spend is in the solver's units.
    """

    acceptance: Floats
    """q₀, shape (n,)."""
    spend: Floats
    slope: Floats
    """Of the cost curves, shape (n,)."""
    gain: Floats
    """g, shape (n,)."""
    stiffness: Floats
    """κ, shape (n,)."""
    lowest: Floats
    highest: Floats
    rows: sparse.csr_array
    """R of R q ≤ limits, shape (k, n); the budget's first."""
    limits: Floats
    equal: NDArray[np.bool_]
    """Which rows are equations."""


def local_program(statement: Statement, objective: Objective, budget: float, at: Standing) -> Local:
    """Describe a program around offers.

    Parameters
    ----------
    statement
        The market and what is linear.
    objective, budget
        The program's.
    at
        The offers.
    """
    market, utility = statement.market, statement.utility(objective)
    currency, counts, m = units_of(market).currency, market.weights, statement.weights()
    owners, q = Owners(statement, utility), np.clip(on_rows(statement, at.acceptance), 0.0, 1.0)
    of_rows, price = statement.charge(at.price, at.linear)
    taken, paid = (of_rows + _sums(statement, at.taken[0]) / m, price + _sums(statement, at.taken[1]) / m)
    gain = utility.slope(q)
    with np.errstate(divide="ignore", invalid="ignore"):
        faced = (gain - taken) / paid
    slope, bend, kink = _curve(owners, q, faced)
    answer = owners.answer(taken, np.maximum(paid, 0.0), 0.0).acceptance
    held = kink & (np.abs(answer - q) <= _WIDE)
    q = np.where(held, answer, q)
    with np.errstate(invalid="ignore"):
        stiff = np.nan_to_num(paid * bend + utility.curvature(q))
    lowest, highest = np.where(held, q, statement.lowest), np.where(held, q, statement.highest)
    spend = statement.expand(owners.cost(q))
    q, slope = statement.expand(q), statement.expand(slope)
    rows, limits, equal = _linear_rows(statement, budget, (q, spend), slope)
    return Local(
        acceptance=q,
        spend=spend / currency,
        slope=slope / currency,
        gain=counts * statement.expand(np.nan_to_num(gain)),
        stiffness=counts * statement.expand(stiff),
        lowest=statement.expand(lowest),
        highest=statement.expand(highest),
        rows=rows,
        limits=limits,
        equal=equal,
    )


def _sums(statement: Statement, values: Floats) -> Floats:
    """Return the sums over the owners that each row of the statement stands for."""
    if statement.row_of_owner is None:
        return values
    return np.bincount(statement.row_of_owner, weights=values, minlength=statement.reduced.n).astype(np.float64)


def on_rows(statement: Statement, values: Floats) -> Floats:
    """Return values of the market's owners to the rows that stand for them."""
    if statement.row_of_owner is None:
        return values
    first = np.unique(statement.row_of_owner, return_index=True)[1]
    return values[first]


def _curve(owners: Owners, q: Floats, faced: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return slope and curvature of the cost curves, and who stands at a corner.

    With the slope that she faces of all that are there.
    """
    near, at = (np.clip(q, step, 1.0 - step) for step in (_STEP, _WIDE))
    (below, above), (before, after) = _slopes(owners, near, _STEP), _slopes(owners, at, _WIDE)
    kink = (above - below > _OF_A_KINK * (after - before)) & (before < faced) & (faced < after)
    bend = np.maximum((after - before) / _WIDE, 0.0)
    slope = np.where(kink, faced, 0.5 * (below + above) + bend * (q - near))
    return slope, bend, kink


def _slopes(owners: Owners, q: Floats, step: float) -> tuple[Floats, Floats]:
    below, here, above = owners.cost(q - step), owners.cost(q), owners.cost(q + step)
    return (here - below) / step, (above - here) / step


def _linear_rows(
    statement: Statement, budget: float, offers: tuple[Floats, Floats], slope: Floats
) -> tuple[sparse.csr_array, Floats, NDArray[np.bool_]]:
    """Return budget, linear rows and common prices in acceptance alone.

    Spend runs along the tangents.
    """
    (q, spend), counts, n = offers, statement.market.weights, slope.size
    A, S = statement.owner_rows()
    rest = spend - slope * q
    rows = [sparse.csr_array((counts * slope)[np.newaxis, :]), A + S * slope[np.newaxis, :]]
    limits = [np.array([budget - counts @ rest]), statement.at_most - S @ rest]
    equal = [np.array([False]), statement.equal]
    shared = statement.row_of_owner
    if shared is not None:
        first = np.unique(shared, return_index=True)[1][shared]
        others = np.flatnonzero(first != np.arange(n))
        ends = np.arange(0, 2 * others.size + 1, 2)
        places = np.stack([others, first[others]], axis=1).ravel()
        rows.append(sparse.csr_array((np.tile([1.0, -1.0], others.size), places, ends), shape=(others.size, n)))
        limits.append(np.zeros(others.size))
        equal.append(np.ones(others.size, dtype=np.bool_))
    return sparse.csr_array(sparse.vstack(rows)), np.concatenate(limits), np.concatenate(equal)
