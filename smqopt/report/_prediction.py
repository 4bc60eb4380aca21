"""The predicted error of an answer against the budget, as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smqopt.document import Dots, Figure, Level, Mark, PlottedCurve, chart, shown

if TYPE_CHECKING:
    from smqopt.query import Prediction


def prediction_figure(prediction: Prediction) -> Figure:
    """Draw the predicted RMSE and its two parts against the budget."""
    known = np.isfinite(prediction.total)
    order = np.flatnonzero(known)[np.argsort(prediction.budgets[known], kind="stable")]
    x = prediction.budgets[order]
    total, sampling, noise = (part[order] for part in (prediction.total, prediction.sampling, prediction.noise))
    top = float(np.max(total, initial=0.0))
    parts = (("curve", "RMSE", total), ("curve second", "sampling", sampling), ("curve third", "noise", noise))
    marks: list[Mark] = [PlottedCurve(x, curve, style) for style, _, curve in reversed(parts)]
    told = "At no budget is anything bought."
    if order.size:
        best = int(np.argmin(total))
        marks += [Level(float(x[best]), "least error", upright=True), Dots(x[[best]], total[[best]], "big-dots second")]
        told = (
            f"The error is least, {shown(float(total[best]), 4)}, at a budget of {shown(float(x[best]), 6)}, "
            f"where {shown(float(prediction.bought[order][best]), 4)} entries are expected to be bought."
        )
    return Figure.of(
        chart(
            "prediction",
            (0.0, float(np.max(x, initial=0.0))),
            (0.0, top),
            x_label="budget B (currency)",
            y_label=f"RMSE, {prediction.unit}",
            description="The predicted error of the answer at each budget, with its two parts, sampling and noise.",
            marks=marks,
            legend=[(style, name) for style, name, _ in parts],
            ends_at_data=True,
        ),
        f"Predicted error of the {prediction.query}: the whole, the part of sampling alone, and what noise adds. {told} "
        f"Assumed: {prediction.assumption}.",
    )
