"""The explorer's charts: complete as they stand, and redrawn by the page's script."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from smqopt.document import Dots, Figure, Mark, PlottedCurve, chart, shown
from smqopt.numeric import Floats
from smqopt.report.explorer._explored import CHANCE, Explored

STEPS = 8
"""Positions of a slider from one knot to the next."""

_TALLEST = 4.0
"""The axis of errors ends at most so many times above their median."""


def positions(knots: Floats) -> Floats:
    """Return the values that a slider can take: knots, and even steps between."""
    places = np.arange((knots.size - 1) * STEPS + 1) / STEPS
    return np.interp(places, np.arange(knots.size), knots)


def explorer_charts(explored: Explored) -> dict[str, Figure]:
    """Draw all at the model's own budget and limit, by name.

    What the script redraws has a class that begins in `at-`.
    """
    grid = explored.grid
    own = 0 if grid.limit is None else grid.limit.own
    limit = float(grid.limits[own])
    budgets, budget = grid.budgets, float(grid.budgets[explored.own])
    places = positions(budgets)
    low, high = np.array([grid.bounds(at, limit) for at in places.tolist()]).T
    mean, _, most = explored.payments
    figures = {
        "frontier": _over_budgets(
            "frontier",
            budget,
            budgets,
            float(np.max(grid.lower, initial=0.0, where=np.isfinite(grid.lower))),
            [
                (places, high, "curve second dashed at-upper", "proved upper bound"),
                (places, low, "curve at-lower", "proved lower bound"),
            ],
            "purchased privacy V(B) (nats)",
            "Purchased privacy lies between the two curves at every budget: solved budgets are joined from below, tangents bound it from above.",
        ),
        "thresholds": _over_epsilon(
            explored, "thresholds", explored.of_owners(lambda one: one.solution.thresholds)[own, explored.own], explored.highest, "threshold θ* (currency)",
            "Thresholds by privacy requirement.",
        ),
        "acceptance": _over_epsilon(
            explored, "acceptance", explored.of_owners(lambda one: one.solution.acceptance)[own, explored.own], 1.0, "acceptance probability F(θ*)",
            "The probability of selling, by privacy requirement.",
        ),
        "payments": _over_budgets(
            "payments", budget, budgets, float(np.nanmax(most)),
            [
                (budgets, most[own], "curve second at-most", f"exceeded with probability at most {shown(CHANCE)}"),
                (budgets, mean[own], "curve at-mean", "expected payments"),
            ],
            "payments (currency)",
            f"What is paid in one purchase: its expectation, and an amount that it exceeds with probability at most {shown(CHANCE)} if owners are independent.",
        ),
    }  # fmt: skip
    if explored.predictions:
        total, sampling, noise = explored.errors()
        unit = next(one.unit for one in explored.predictions if one is not None)
        figures["prediction"] = _over_budgets(
            "prediction", budget, budgets, _in_sight(total),
            [
                (budgets, sampling[own], "curve second at-sampling", "sampling"),
                (budgets, noise[own], "curve third at-noise", "noise"),
                (budgets, total[own], "curve at-total", "RMSE"),
            ],
            f"RMSE ({unit})",
            "Predicted, not proved: the error of the answer and its two parts.",
        )  # fmt: skip
    return figures


def _in_sight(errors: Floats) -> float:
    """Return the top of the axis of errors: small budgets may have any error."""
    return float(min(np.nanmax(errors), _TALLEST * np.nanmedian(errors)))


def _over_budgets(
    name: str,
    budget: float,
    budgets: Floats,
    top: float,
    curves: Iterable[tuple[Floats, Floats, str, str]],
    label: str,
    words: str,
) -> Figure:
    marks: list[Mark] = [PlottedCurve(np.full(2, budget), np.array([0.0, top]), "level at-budget")]
    legend = []
    for x, y, style, what in curves:
        drawn = np.isfinite(y)
        marks.append(PlottedCurve(x[drawn], np.minimum(y[drawn], top), style))
        legend.append((style.rpartition(" ")[0], what))
    picture = chart(
        f"explorer-{name}",
        (0.0, float(budgets[-1])),
        (0.0, top if math.isfinite(top) else 1.0),
        x_label="budget B (currency)",
        y_label=label,
        description=words,
        marks=marks,
        legend=legend[::-1],
        ends_at_data=True,
    )
    return Figure.of(picture, words)


def _over_epsilon(explored: Explored, name: str, y: Floats, top: float, label: str, words: str) -> Figure:
    epsilon = explored.epsilon
    known = np.isfinite(y)
    picture = chart(
        f"explorer-{name}",
        (min(0.0, float(epsilon.min())), float(epsilon.max())),
        (0.0, top),
        x_label="privacy requirement ε (nats)",
        y_label=label,
        description=words,
        marks=[Dots(epsilon[known], y[known], f"big-dots at-{name}")],
    )
    return Figure.of(picture, words)
