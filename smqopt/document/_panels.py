"""Several charts in one picture, in rows, with a legend above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smqopt.document import _svg as svg
from smqopt.document._chart import HEIGHT, WIDTH, Chart, elements

_LEGEND = 22.0
_TITLE = 20.0
_GAP = 12.0
_LEFT = 14.0
"""Room for long labels of the first column."""
_SAMPLE = 22.0
"""Length of the line that shows a style."""
_LETTER = 6.2
"""About the width of a letter."""


@dataclass(frozen=True)
class Panel:
    """A chart and what stands above it."""

    title: str
    chart: Chart


def panels(name: str, rows: Sequence[Sequence[Panel]], legend: Sequence[tuple[str, str]], *, description: str) -> str:
    """Write rows of charts as one `<svg>` element.

    Parameters
    ----------
    name
        Distinguishes it on the page.
    rows
        Charts from the left, row by row from the top.
    legend
        Pairs of a style and what is drawn in it.
    description
        What there is to see, in a sentence.
    """
    width = _LEFT + max(len(row) for row in rows) * (WIDTH + _GAP) - _GAP
    lines = _legend(legend, width)
    top = max((at for _, at in lines), default=0.0) + _LEGEND if lines else 0.0
    children = [element for element, _ in lines]
    for r, row in enumerate(rows):
        for c, panel in enumerate(row):
            place = (_LEFT + c * (WIDTH + _GAP), top + r * (HEIGHT + _TITLE + _GAP))
            children.append(_shift(panel, place))
    height = top + len(rows) * (HEIGHT + _TITLE + _GAP)
    return svg.picture(width, height, children, name=name, description=description).render()


def _shift(panel: Panel, place: tuple[float, float]) -> svg.Element:
    x, y = (svg.coordinate(value) for value in (place[0], place[1] + _TITLE))
    title = svg.text((WIDTH / 2, -6), panel.title, style="title middle")
    return svg.Element("g", (("transform", f"translate({x} {y})"),), (title, *elements(panel.chart)))


def _legend(legend: Sequence[tuple[str, str]], width: float) -> list[tuple[svg.Element, float]]:
    """Return samples and their words in lines, with the height of a line."""
    found: list[tuple[svg.Element, float]] = []
    x, y = 4.0, 12.0
    for style, words in legend:
        wide = _SAMPLE + 6 + _LETTER * len(words) + 18
        if x + wide > width and x > 4.0:
            x, y = 4.0, y + _LEGEND
        found.append((svg.line((x, y), (x + _SAMPLE, y), style=style), y))
        found.append((svg.text((x + _SAMPLE + 6, y + 4), words, style="label"), y))
        x += wide
    return found
