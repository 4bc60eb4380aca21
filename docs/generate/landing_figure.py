"""Draw the figure of the landing page anew: the frontier of the Adult model."""

from pathlib import Path

import numpy as np

from smqopt.model_files import load_model
from smqopt.questions import frontier
from smqopt.report import DrawnFrontier, frontier_figure
from smqopt.solvers import solve

FIGURE = Path(__file__).parents[1] / "_static" / "frontier.svg"

if __name__ == "__main__":
    model = load_model("adult-income-count")
    budgets = np.linspace(0.0, float(model.market.most_that_can_be_spent), 61)
    drawn = DrawnFrontier.of(frontier(model.market, budgets), solve(model.market, model.budget))
    FIGURE.write_text(frontier_figure(drawn).standalone(), encoding="utf-8", newline="\n")
