"""The explorer as one page: no network, its own script alone, complete without it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from smqopt.document import Figure, Section, page, show_interval, shown
from smqopt.numeric import ROUNDING, Floats
from smqopt.report.explorer._explored import CHANCE, Explored
from smqopt.report.explorer._explorer_charts import STEPS, explorer_charts

_DIGITS = 7
"""Of what is drawn of owners."""
_IN_TABLE = 8
"""Digits of a bound in the table of knots."""
_POLICY = "default-src 'none'; font-src data:; base-uri 'none'; form-action 'none'"


def explorer_page(explored: Explored) -> str:
    """Write the explorer of a model.

    Parameters
    ----------
    explored
        A grid with at least one certificate at the model's own limit.

    Returns
    -------
    str
        HTML, the same bytes each time.
    """
    figures = explorer_charts(explored)
    grid = explored.grid
    own = 0 if grid.limit is None else grid.limit.own
    script = (resources.files("smqopt.report") / "templates" / "explorer.js").read_text(encoding="utf-8")
    text = page(
        "explorer.html",
        packages=("smqopt.report",),
        kind="Explorer of the certified frontier",
        title=explored.title,
        sections=[
            Section(
                "explore",
                "Budget and what it buys",
                "explorer.html",
                {
                    "figures": list(figures.items()),
                    "limit": None if grid.limit is None else grid.limit.words,
                    "limit_value": shown(float(grid.limits[own])),
                    "last": (grid.budgets.size - 1) * STEPS,
                    "last_limit": (grid.limits.size - 1) * STEPS,
                    "position": explored.own * STEPS,
                    "limit_position": own * STEPS,
                    "predicted": bool(explored.predictions),
                    "assumed": next((one.assumption for one in explored.predictions if one is not None), ""),
                    "query": next((one.query for one in explored.predictions if one is not None), ""),
                    "chance": shown(CHANCE),
                    **_reading(explored, own, explored.own),
                },
            ),
            Section("knots", "All solved budgets", "explorer_knots.html", {"header": _header(explored), "rows": _table(explored)}),
            Section(
                "meaning",
                "What is proved, and what is not",
                "explorer_meaning.html",
                {"proved": _is_proved(explored), "chance": shown(CHANCE), "in_doubt": explored.in_doubt},
            ),
        ],
        data=json.dumps(_payload(explored, figures), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
    )  # fmt: skip
    return _with_policy(text)


def _with_policy(text: str) -> str:
    """State in the page's policy what it holds: its style and its script, by hash."""
    style, script = (
        re.search(pattern, text, re.DOTALL) for pattern in ("<style>(.*?)</style>", "<script>(.*?)</script>")
    )
    assert style is not None  # noqa: S101 -- the template has both
    assert script is not None  # noqa: S101
    policy = f"{_POLICY}; style-src {_hash(style.group(1))}; script-src {_hash(script.group(1))}"
    return text.replace("POLICY", policy, 1)


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _payload(explored: Explored, figures: dict[str, Figure]) -> dict[str, Any]:
    """Return what the script reads; bounds and slopes with all digits."""
    grid = explored.grid
    price, slope = grid.prices
    mean, deviation, most = explored.payments
    axes = {}
    for name, figure in figures.items():
        assert figure.chart is not None  # noqa: S101
        x, y = figure.chart.x, figure.chart.y
        axes[name] = [[axis.low, axis.high, axis.start, axis.end] for axis in (x, y)]
    return {
        "budgets": grid.budgets.tolist(),
        "limits": grid.limits.tolist(),
        "steps": STEPS,
        "rounding": ROUNDING.value,
        "lower": _exact(grid.lower),
        "upper": _exact(grid.upper),
        "price": _exact(price),
        "slope": _exact(slope),
        "value": _exact(explored.of_knots(lambda one: one.solution.objective_value)),
        "status": grid.status,
        "proved": [[one is not None and one.grade == "proved" for one in row] for row in grid.certificates],
        "sold": _exact(explored.of_knots(lambda one: _expected_sales(one.solution))),
        "mean": _exact(mean),
        "deviation": _exact(deviation),
        "most": _exact(most),
        "errors": [_exact(part) for part in explored.errors()] if explored.predictions else None,
        "epsilon": _to_digits(explored.epsilon),
        "thresholds": _to_digits(explored.of_owners(lambda one: one.solution.thresholds)),
        "acceptance": _to_digits(explored.of_owners(lambda one: one.solution.acceptance)),
        "axes": axes,
    }


def _expected_sales(solution: Any) -> float:
    return float(solution.market.weights @ solution.acceptance)


def _exact(values: Floats) -> Any:
    """Return nested lists of numbers; None where they are not finite."""
    return _to_lists(values, float)


def _to_digits(values: Floats) -> Any:
    return _to_lists(values, lambda x: float(f"{x:.{_DIGITS}g}"))


def _to_lists(values: Floats, write: Any) -> Any:
    if values.ndim > 1:
        return [_to_lists(row, write) for row in values]
    return [write(x) if math.isfinite(x) else None for x in values.tolist()]


def _is_proved(explored: Explored) -> bool:
    return all(one is None or one.grade == "proved" for row in explored.grid.certificates for one in row)


def _reading(explored: Explored, k: int, j: int) -> dict[str, str]:
    """Write what the script would write at a knot."""
    grid = explored.grid
    found = grid.certificates[k][j]
    budget = shown(float(grid.budgets[j]), 9)
    names = ("privacy", "price", "sold", "mean", "deviation", "most", "total", "sampling", "noise")
    if found is None:
        return {"budget": budget, **dict.fromkeys(names, "–")}
    low, high = show_interval(found.lower_bound, found.upper_bound)
    numbers = [found.solution.budget_price, _expected_sales(found.solution)]
    numbers += [float(part[k, j]) for part in (*explored.payments, *explored.errors())]
    texts = [shown(one) if math.isfinite(one) else "–" for one in numbers]
    return {"budget": budget, **dict(zip(names, [f"{low} to {high}", *texts], strict=True))}


def _header(explored: Explored) -> list[str]:
    limit = [] if explored.grid.limit is None else ["limit"]
    errors = ["RMSE (predicted)"] if explored.predictions else []
    return [*limit, "budget", "V at least", "V at most", "λ", "sold", "deviation of payments", *errors]


def _table(explored: Explored) -> Sequence[Sequence[str]]:
    grid = explored.grid
    deviation, errors = explored.payments[1], explored.errors()[0]
    rows = []
    for k, limit in enumerate(grid.limits.tolist()):
        for j, budget in enumerate(grid.budgets.tolist()):
            found = grid.certificates[k][j]
            first = [] if grid.limit is None else [shown(limit)]
            if found is None:
                cells = [grid.status[k][j].lower(), *["–"] * (4 + bool(explored.predictions))]
            else:
                low = shown(found.lower_bound, _IN_TABLE, rounding="down")
                high = shown(found.upper_bound, _IN_TABLE, rounding="up")
                numbers = [found.solution.budget_price, _expected_sales(found.solution), float(deviation[k, j])]
                numbers += [float(errors[k, j])] if explored.predictions else []
                cells = [low, high, *(shown(one, 5) if np.isfinite(one) else "–" for one in numbers)]
            rows.append([*first, shown(budget, 9), *cells])
    return rows
