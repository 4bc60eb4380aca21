"""What `.plot()` of a record draws: the report's charts on matplotlib's axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smqopt.document import Figure, PlottedCurve, chart, draw_axes
from smqopt.errors import InputError, nearest
from smqopt.report._figures import acceptance_figure, thresholds_figure
from smqopt.report._prediction import prediction_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from smqopt.market import Solution
    from smqopt.query import Prediction
    from smqopt.questions import Frontier

_OF_A_SOLUTION = {"thresholds": thresholds_figure, "acceptance": acceptance_figure}


def plot_solution(solution: Solution, what: str, ax: Axes | None) -> Axes:
    """Draw thresholds or acceptance against ε.

    Raises
    ------
    InputError
        If something else is asked for, or matplotlib is not there.
    """
    if what not in _OF_A_SOLUTION:
        remedy = nearest(str(what), _OF_A_SOLUTION)
        raise InputError("plot: argument 'what'", "must be 'thresholds' or 'acceptance'", value=what, remedy=remedy)
    return _draw(_OF_A_SOLUTION[what](solution), ax)


def plot_prediction(prediction: Prediction, ax: Axes | None) -> Axes:
    """Draw the predicted RMSE and its two parts against the budget."""
    return _draw(prediction_figure(prediction), ax)


def plot_frontier(frontier: Frontier, ax: Axes | None) -> Axes:
    """Draw V(B) between its bounds, at the budgets that are feasible."""
    at = np.flatnonzero(frontier.feasible)
    x = frontier.budgets[at]
    curves = [
        (frontier.lower_bound, "curve dashed"),
        (frontier.upper_bound, "curve dashed"),
        (frontier.purchased_privacy, "curve"),
    ]
    top = float(np.max(frontier.upper_bound[at], initial=0.0))
    picture = chart(
        "frontier",
        (0.0, float(np.max(x, initial=0.0))),
        (0.0, top),
        x_label="budget B (currency)",
        y_label="purchased privacy V(B) (nats)",
        description="The most privacy that each budget buys, between its bounds.",
        marks=[PlottedCurve(x, curve[at], style) for curve, style in curves],
        ends_at_data=True,
    )
    return draw_axes(picture, ax)


def _draw(figure: Figure, ax: Axes | None) -> Axes:
    assert figure.chart is not None  # noqa: S101 -- these figures are one chart each
    return draw_axes(figure.chart, ax)
