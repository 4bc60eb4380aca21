"""Points of the frontier with their tangents, more where bounds are apart.

Every price λ gives one point of the frontier without any search: what the owners answer to it.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

import numpy as np

from smqopt.market import Market
from smqopt.numeric import BUDGET_MARGIN, ROUNDING, Floats
from smqopt.questions.frontiers._curve import Supports
from smqopt.solvers import OwnerPart, answers, parts_of, solve
from smqopt.valuation import response_table
from smqopt.verification import expected_spend, purchased_privacy, upper_bound

_SOLVED_FIRST = 16
"""Budgets solved before prices are put between."""
_MOST_ROUNDS = 24
_NARROW = 2.0**-40
"""Prices closer than this, relatively, are not split: V has a corner between them, or is straight.
"""


@dataclass(frozen=True)
class Tangents:
    """A market, and how its tangents are bounded."""

    market: Market
    verified: bool

    def supports(self, points: list[tuple[float, float, float]]) -> Supports:
        """Make supports of (spend, price, reached) triples."""
        rows = [
            (spend, price, reached * (1.0 - 2 * BUDGET_MARGIN.value), self._ceiling(spend, price, reached))
            for spend, price, reached in sorted(points)
        ]
        return Supports(*(np.array(column) for column in zip(*rows, strict=True)))

    def _ceiling(self, spend: float, price: float, reached: float) -> float:
        """Bound V(spend) from above by the tangent of slope `price`."""
        if self.verified and spend > 0:
            return upper_bound(self.market, spend, price)
        return reached + 2.0 * (ROUNDING.value + BUDGET_MARGIN.value) * (reached + price * spend)

    @functools.cached_property
    def parts(self) -> list[OwnerPart]:
        """The owners by family, with response tables where a law is common."""
        parts = parts_of(self.market)
        return [dataclasses.replace(part, table=part.table or response_table(part.law)) for part in parts]

    def at_price(self, price: float) -> tuple[float, float, float]:
        """Return (spend, price, reached) where owners answer to a price."""
        found = answers(self.parts, 1.0 / price, self.market.n)
        spend = expected_spend(self.market, found.thresholds, found.acceptance)
        return spend, price, purchased_privacy(self.market, found.acceptance)


def solve_each(tangents: Tangents, budgets: Floats) -> Supports:
    """Solve at each budget."""
    points = []
    for budget in budgets.tolist():
        solution = solve(tangents.market, budget)
        points.append((solution.total_spend, solution.budget_price, solution.purchased_privacy))
    return tangents.supports(points)


def refine(tangents: Tangents, budgets: Floats, last: Supports, gap: float) -> Supports:
    """Solve at some budgets, and add prices until the bounds are close.

    First and last of the increasing budgets are among them.

    Where they cannot be, because two prices can no longer be text apart or rounds run out, the
    bounds say how far they are.
    """
    chosen = np.unique(np.linspace(0, budgets.size - 1, min(_SOLVED_FIRST, budgets.size)).round().astype(np.intp))
    supports = solve_each(tangents, budgets[chosen]).join(last)
    for _ in range(_MOST_ROUNDS):
        lower, upper = supports.bounds(budgets)
        wide = upper - lower > gap * upper
        right = np.unique(np.searchsorted(supports.spend, budgets[wide], side="left"))
        right = right[(right > 0) & (right < supports.spend.size)]
        high, low = supports.price[right - 1], supports.price[right]
        low = np.where(low > 0, low, 0.25 * high)  # the last tangent is level
        split = low < high * (1.0 - _NARROW)
        if not split.any():
            break
        prices = np.sqrt(low[split] * high[split])
        supports = supports.join(tangents.supports([tangents.at_price(price) for price in prices.tolist()]))
    return supports
