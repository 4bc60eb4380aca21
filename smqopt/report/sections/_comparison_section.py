"""The comparison of routes as a section."""

from __future__ import annotations

from collections.abc import Sequence

from smqopt.document import Section, shown
from smqopt.report._comparison import Route

_DIGITS = 10


def comparison_section(routes: Sequence[Route], *, derived: bool) -> Section:
    """Set the routes side by side; with a link to the derivation, if the page has one."""
    rows = [
        (
            route.name,
            route.note,
            _number(route.price, _DIGITS),
            _number(route.privacy, _DIGITS),
            _number(route.distance, 3),
        )
        for route in routes
    ]
    return Section("comparison", "The answer by three routes", "comparison.html", {"rows": rows, "derived": derived})


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else shown(value, digits)
