"""Linear rows between doubles: what they charge, and how they are kept.

Under multipliers y an owner's requirement is ε − Σ_j y_j a_j/m and her price λ + Σ_j y_j s_j/m.
Both are rounded; what that moves her Lagrangian by is added to the bound, since it moves by no more
than the requirement and by no more than the price times the highest cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb

from smqopt.market import Row, Solution
from smqopt.numeric import Ball, Floats, sum_with_error
from smqopt.verification.enclosures._line_protocol import UNDERFLOW, UNIT

LEAST = 2.0**-300
"""Prices and requirements beyond this, or its inverse, are left to balls."""
UP = 1.0 + 2.0**-40
"""More than the roundings of a positive term and of the sum of a block of them."""
Between = tuple[Floats, Floats]
"""Numbers that lie between two doubles each, none below 0."""


@dataclass(eq=False)
class Total:
    """A sum of nonnegative terms that are known between doubles."""

    parts: list[float] = field(default_factory=list)
    error: float = 0.0

    def add(self, low: Floats, high: Floats, x: Floats, m: Floats | None) -> None:
        """Add Σ m q x for q between two doubles."""
        middle, half = 0.5 * (low + high), high - low
        middle *= x
        half *= x
        if m is not None:
            middle *= m
            half *= m
        total, missed = sum_with_error(middle)
        self.parts.append(total)
        self.error += (missed + 4 * UNIT * total + float(np.add.reduce(half))) * UP
        if total > 0 or np.any((high > 0) & (x > 0)):
            self.error += x.size * UNDERFLOW * (1.0 if m is None else float(np.max(m)))

    def ball(self) -> Ball:
        """Return the sum."""
        if not all(math.isfinite(part) for part in self.parts):
            return arb("nan")
        total = math.fsum(self.parts)
        return arb(total, self.error * UP + 2 * UNIT * abs(total))


@dataclass(frozen=True, eq=False)
class Charged:
    """What n owners ask for and are paid under multipliers; shape (n,) each."""

    requirement: Floats
    """In units of ε; it may lie below 0."""
    price: Floats
    miss: Floats
    """No less than what rounding moves her Lagrangian by, in units of ε."""


def charge_owners(solution: Solution, rows: Sequence[Row], dearest: float = 0.0) -> Charged:
    """Return what owners ask for and are paid under a solution's multipliers.

    Prices go up to the ends of the supports, and to the dearest one.
    """
    market, n, m = solution.market, solution.market.n, solution.market.weights
    totals, sizes, entries = np.zeros((2, n)), np.zeros((2, n)), np.zeros(n)
    for row, y in zip(rows, solution.constraint_prices.tolist(), strict=True):
        if y != 0:
            for total, size, (owners, values) in zip(totals, sizes, (row.acceptance, row.spend), strict=True):
                charge = y * values
                np.add.at(total, owners, charge)
                np.add.at(size, owners, np.abs(charge))
                np.add.at(entries, owners, 1.0)
    (taken, added), (most_taken, most_added) = totals / m, sizes / m
    high, most = np.maximum(market.high, dearest), float(np.max(entries))
    size = market.epsilon + most_taken + (solution.budget_price + most_added) * high
    miss = 2 * (most + 8) * UNIT * UP * size + most * UNDERFLOW * (1.0 + high)
    return Charged(market.epsilon - taken, solution.budget_price + added, miss)


def is_moderate(under: Charged) -> bool:
    """Whether no product leaves the doubles, and no price is below 0."""
    p, largest = under.price, float(np.max(np.abs(under.requirement)))
    return LEAST <= largest <= 1 / LEAST and bool(np.all((p == 0) | ((p >= LEAST) & (p <= 1 / LEAST))))


def left_side(row: Row, q: Between, b: Between) -> tuple[Ball, Ball]:
    """Return A q + S b − r, and the sum of its absolute terms.

    Parameters
    ----------
    row
        Over n owners.
    q, b
        Their acceptances and expected payments, shape (n,).
    """
    above, below = Total(), Total()
    for (low, high), (owners, values) in ((q, row.acceptance), (b, row.spend)):
        for total, at in ((above, values > 0), (below, values < 0)):
            if at.any():
                own = owners[at]
                total.add(low[own], high[own], np.abs(values[at]), None)
                total.error += own.size * UNDERFLOW if np.any(high[own] > 0) else 0.0
    for total in (above, below):
        total.error += 2 * UNIT * math.fsum(total.parts) if row.rounded else 0.0
    more, less = above.ball(), below.ball()
    return more - less - arb(row.at_most), more + less + arb(abs(row.at_most))
