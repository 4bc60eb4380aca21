"""Several charts in one picture, in rows, with a legend above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smqopt.document import _svg as svg
from smqopt.document._chart import HEIGHT, LEGEND, WIDTH, Chart, elements, legend_lines

_TITLE = 20.0
_GAP = 12.0
_LEFT = 14.0
"""Room for long labels of the first column."""


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
    lines = legend_lines(legend, width)
    top = max((at for _, at in lines), default=0.0) + LEGEND if lines else 0.0
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
