"""The paper's three figures, in its layout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smqopt.document import Chart, Dots, Figure, Level, Mark, Panel, PlottedCurve, Whiskers, chart, log_chart, panels
from smqopt.paper.claims._setups import SMQ_PRINTED, TITLES
from smqopt.paper.experiments._grid import BUDGET_SHARES, CORRELATIONS
from smqopt.paper.experiments._summary import Results, Setup

BUDGET_LABEL = "budget B/(θ̄n)"
LINES = ("", " dashed", " dotted")
"""For ρ = 0, −0.5 and −1."""
_APART = 0.012
"""By how much two intervals at one budget are drawn apart."""
_SHARES = np.array(BUDGET_SHARES)
_UNITS = {"count": "owners", "median": "", "linear": "weighted sum"}


def count_figure(results: Results) -> Figure:
    """SMQ and FQ for counts."""
    return _four_rows(results, "count", "fq-printed-scale", "FQ, printed rule, noise by scale")


def median_figure(results: Results) -> Figure:
    """SMQ and FQ for medians."""
    return _four_rows(
        results,
        "median",
        "fq-printed-scale-public",
        "FQ, printed rule, noise by scale, sensitivity of the public range",
    )


def linear_figure(results: Results) -> Figure:
    """SMQ and FIP for linear predictors."""
    top = [
        Panel(f"{title}, ρ = 0", _means(results, one, "linear", 0.0, (SMQ_PRINTED, "fip")))
        for one, title in TITLES.items()
    ]
    rows = [top, _errors_row(results, "linear", (SMQ_PRINTED, "fip"))]
    told = f"Linear predictor, {results.trials} trials a setup."
    caption = f"{told} Top: mean (dots) and 95 % interval of the answers, at ρ = 0; the line across is the true answer. Bottom: RMSE."
    return Figure(panels("linear", rows, _legend("FIP"), description=caption), caption)


def _four_rows(results: Results, query: str, other: str, said: str) -> Figure:
    rows = [
        [
            Panel(f"{title}, ρ = {_words(rho)}", _means(results, one, query, rho, (SMQ_PRINTED, other)))
            for rho in CORRELATIONS
        ]
        for one, title in TITLES.items()
    ]
    rows.append(_errors_row(results, query, (SMQ_PRINTED, other)))
    caption = (
        f"{query.capitalize()} query, {results.trials} trials a setup. Top three rows: mean (dots) and 95 % interval of the answers; the line "
        "across is the true answer. Last row: RMSE by data set."
    )
    return Figure(panels(query, rows, _legend(said), description=caption), caption)


def _legend(other: str) -> list[tuple[str, str]]:
    lines = [(f"curve{line}", f"RMSE at ρ = {_words(rho)}") for line, rho in zip(LINES, CORRELATIONS, strict=True)]
    return [("curve", "SMQ, marginal law"), ("curve second", other), *lines[1:]]


def _words(rho: float) -> str:
    return f"{rho:g}".replace("-", "−")


def _setups(results: Results, one: str, query: str, rho: float, name: str) -> list[Setup]:
    return [results.setup(one, query, rho, share, name) for share in BUDGET_SHARES]


def _means(results: Results, one: str, query: str, rho: float, names: Sequence[str]) -> Chart:
    marks: list[Mark] = []
    ends: list[float] = []
    truth = results.setup(one, query, rho, BUDGET_SHARES[0], names[0]).truth
    marks.append(Level(truth, ""))
    for name, style, shift in zip(names, ("", " second"), (-_APART, _APART), strict=True):
        found = [setup for setup in _setups(results, one, query, rho, name) if np.isfinite(setup.mean)]
        x = np.array([setup.budget_share for setup in found]) + shift
        low, high = (np.array([getattr(setup, end) for setup in found]) for end in ("low", "high"))
        marks.append(Whiskers(x, low, high, f"whiskers{style}"))
        marks.append(Dots(x, np.array([setup.mean for setup in found]), f"big-dots{style}"))
        ends += [*low.tolist(), *high.tolist(), *(setup.mean for setup in found)]
    return chart(
        f"{query}-{one}-{rho:g}",
        (0.0, 1.0),
        (min([*ends, truth]), max([*ends, truth])),
        x_label=BUDGET_LABEL,
        y_label=f"answer, {_UNITS[query]}".rstrip(", "),
        description="mean and interval by budget",
        marks=marks,
    )


def _errors_row(results: Results, query: str, names: Sequence[str]) -> list[Panel]:
    panels_found = []
    for one, title in TITLES.items():
        marks: list[Mark] = []
        values: list[float] = []
        for name, style in zip(names, ("", " second"), strict=True):
            for rho, line in zip(CORRELATIONS, LINES, strict=True):
                errors = np.array([setup.rmse for setup in _setups(results, one, query, rho, name)])
                held = np.isfinite(errors)
                marks.append(PlottedCurve(_SHARES[held], errors[held], f"curve{style}{line}"))
                values += errors[held].tolist()
        panels_found.append(
            Panel(
                title,
                log_chart(
                    f"{query}-{one}-rmse",
                    (0.0, 1.0),
                    values,
                    x_label=BUDGET_LABEL,
                    y_label="RMSE",
                    description="RMSE by budget",
                    marks=marks,
                ),
            )
        )
    return panels_found
