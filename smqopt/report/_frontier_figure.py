"""The frontier: the most privacy that each budget buys, and its slope λ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smqopt.document import Dots, Figure, Mark, PlottedCurve, chart, shown
from smqopt.market import Status
from smqopt.numeric import Floats

if TYPE_CHECKING:
    from smqopt.market import Solution
    from smqopt.questions import Frontier


@dataclass(frozen=True, eq=False)
class DrawnFrontier:
    """Purchased privacy V(B) and budget price λ(B) at some budgets."""

    budgets: Floats
    """Increasing, from above 0, shape (k,), in currency; those alone at which thresholds satisfy
    all constraints."""
    privacy: Floats
    """V at each budget, shape (k,), in units of ε."""
    prices: Floats
    """λ at each budget, shape (k,)."""
    budget: float
    """B, the budget in force."""
    reached: float
    """V(B)."""
    price: float
    """λ at B."""
    gap: float
    """V lies between bounds that are at most so far apart, relative to the upper one."""
    too_small: float | None = None
    """A budget up to which no thresholds satisfy all constraints; None where there is none such."""

    @classmethod
    def of(cls, found: Frontier, solution: Solution) -> DrawnFrontier:
        """Take what is drawn from a frontier, and from the solution in force."""
        shown_at = found.feasible & (found.budgets > 0)
        infeasible = found.budgets[[status is Status.INFEASIBLE for status in found.status]]
        return cls(
            budgets=found.budgets[shown_at],
            privacy=found.purchased_privacy[shown_at],
            prices=found.budget_price[shown_at],
            budget=solution.budget,
            reached=solution.objective_value,
            price=solution.budget_price,
            gap=found.gap,
            too_small=float(infeasible.max()) if infeasible.size else None,
        )

    @property
    def slope_error(self) -> float:
        """Measure how far chords of V leave the interval of prices, relatively."""
        if self.budgets.size < 2:
            return 0.0
        chords = np.diff(self.privacy) / np.diff(self.budgets)
        high, low = self.prices[:-1], self.prices[1:]
        outside = np.maximum(np.maximum(chords - high, low - chords), 0.0)
        return float(np.max(outside / np.maximum(high, np.finfo(np.float64).tiny)))


def frontier_figure(frontier: DrawnFrontier) -> Figure:
    """Draw V(B), with the tangent of slope λ at the budget in force."""
    from_nothing = [] if frontier.too_small is not None else [0.0]
    x = np.concatenate([from_nothing, frontier.budgets])
    y = np.concatenate([from_nothing, frontier.privacy])
    top, widest = float(y.max(initial=0.0)), float(x.max(initial=0.0))
    marks: list[Mark] = [PlottedCurve(x, y)]
    note = "."
    if 0 < frontier.price < math.inf:
        reach = np.array(
            [
                max(0.0, frontier.budget - frontier.reached / frontier.price),
                frontier.budget + (top - frontier.reached) / frontier.price,
            ]
        )
        reach = np.clip(reach, 0.0, widest)
        marks.insert(0, PlottedCurve(reach, frontier.reached + frontier.price * (reach - frontier.budget), "tangent"))
        note = f"; the dashed tangent there has slope λ = {shown(frontier.price, 4)}: what one more unit of currency would buy."
    if frontier.too_small is not None:
        note += f" Up to a budget of {shown(frontier.too_small, 5)} no thresholds satisfy all constraints."
    marks.append(Dots(np.array([frontier.budget]), np.array([frontier.reached]), "big-dots second"))
    return Figure.of(
        chart(
            "frontier",
            (0.0, max(widest, frontier.budget)),
            (0.0, max(top, frontier.reached)),
            x_label="budget B (currency)",
            y_label="purchased privacy V(B) (nats)",
            description="The most privacy that each budget buys, with the price of the budget as its slope.",
            marks=marks,
            ends_at_data=True,
        ),
        f"The frontier, from {shown(frontier.budgets.size)} budgets. The dot is the budget of the instance{note}",
    )
