"""Figures beyond the paper's: spend, purchase, corrected mechanisms."""

from __future__ import annotations

import numpy as np

from smqopt.document import Chart, Figure, Level, Panel, PlottedCurve, chart, log_chart, panels
from smqopt.paper.claims._setups import TITLES
from smqopt.paper.experiments._grid import BUDGET_SHARES, CORRELATIONS, DECILES, QUERIES
from smqopt.paper.experiments._summary import Results
from smqopt.paper.reproduction._paper_figures import BUDGET_LABEL

STYLES = {
    "smq-marginal": ("curve", "SMQ, marginal law"),
    "smq-conditional": ("curve second", "SMQ, law given ε"),
    "uniform-price": ("curve third", "one price for all"),
    "omniscient": ("curve faint", "who knows every θ"),
}
BASELINES = {"count": "fq-original-scale", "median": "fq-original-scale-public", "linear": "fip"}
"""The baseline in its corrected reading."""
BASELINE = ("curve second dashed", "FQ, original rule; FIP")
BOUGHT_AT = 0.3
CORRELATED = -0.5
_SHARES = np.array(BUDGET_SHARES)


def spend_figure(results: Results) -> Figure:
    """Realised spend against the budget."""

    def one(rho: float) -> Chart:
        curves = []
        for name, (style, _) in STYLES.items():
            spent = np.array([results.setup("adult", "count", rho, share, name).spend for share in BUDGET_SHARES])
            curves.append(PlottedCurve(_SHARES, spent, style))
        top = max(float(curve.y.max()) for curve in curves)
        return chart(
            f"spend{rho:g}",
            (0.0, 1.0),
            (0.0, top),
            x_label=BUDGET_LABEL,
            y_label="mean payments/B",
            description="payments relative to the budget",
            marks=(Level(1.0, "B"), *curves),
        )

    caption = (
        f"Realised payments relative to the budget, Adult, {results.trials} trials: above 1 the mechanism breaks its budget. At ρ = 0 the two "
        "laws are one."
    )
    return _across("spend", [Panel(f"ρ = {_words(rho)}", one(rho)) for rho in CORRELATIONS], caption)


def bought_figure(results: Results) -> Figure:
    """The share of owners bought, by ε."""
    middle = (np.arange(DECILES) + 0.5) / DECILES

    def one(rho: float) -> Chart:
        curves = [
            PlottedCurve(middle, np.array(results.tenths["adult", rho, BOUGHT_AT, name]), style)
            for name, (style, _) in (*STYLES.items(), (BASELINES["count"], BASELINE))
        ]
        return chart(
            f"bought{rho:g}",
            (0.0, 1.0),
            (0.0, 1.0),
            x_label="requirement ε",
            y_label="share of owners bought",
            description="share bought by tenth of ε",
            marks=curves,
        )

    caption = f"Share of the owners bought, by tenths of ε, Adult, B = {BOUGHT_AT:g} θ̄n, {results.trials} trials."
    return _across("bought", [Panel(f"ρ = {_words(rho)}", one(rho)) for rho in CORRELATIONS], caption, BASELINE)


def corrected_figure(results: Results) -> Figure:
    """RMSE of the corrected variants."""
    rows = []
    for query in QUERIES:
        row = []
        for one, title in TITLES.items():
            curves = []
            for name, (style, _) in (*STYLES.items(), (BASELINES[query], BASELINE)):
                errors = np.array([results.setup(one, query, CORRELATED, share, name).rmse for share in BUDGET_SHARES])
                held = np.isfinite(errors)
                curves.append(PlottedCurve(_SHARES[held], errors[held], style))
            values = [value for curve in curves for value in curve.y.tolist()]
            picture = log_chart(
                f"corrected-{query}-{one}",
                (0.0, 1.0),
                values,
                x_label=BUDGET_LABEL,
                y_label="RMSE",
                description="RMSE by budget",
                marks=curves,
            )
            row.append(Panel(f"{title}, {query}", picture))
        rows.append(row)
    caption = (
        f"RMSE of the corrected variants at ρ = {_words(CORRELATED)}, {results.trials} trials. SMQ with the marginal law spends more than B here, as does"
        " no other. For the linear predictor it has ε = w/W, as printed; the other three keep the ε that was drawn."
    )
    legend = [*STYLES.values(), BASELINE]
    return Figure(panels("corrected", rows, legend, description=caption), caption)


def _across(name: str, row: list[Panel], caption: str, *more: tuple[str, str]) -> Figure:
    return Figure(panels(name, [row], [*STYLES.values(), *more], description=caption), caption)


def _words(rho: float) -> str:
    return f"{rho:g}".replace("-", "−")
