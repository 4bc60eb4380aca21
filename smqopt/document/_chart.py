"""A chart: two axes with their labels, and marks in the units of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from smqopt.document import _svg as svg
from smqopt.document._axis import Axis, spanning
from smqopt.document._log_axis import LogAxis, log_spanning
from smqopt.numeric import Floats

WIDTH, HEIGHT = 360.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 18.0, 22.0, 38.0
"""Margins for labels."""
_LINE = 14.0
"""Height of a line of text."""
LEGEND = 22.0
"""Height of a line of the legend."""
_SAMPLE = 22.0
"""Length of the line that shows a style."""
_LETTER = 6.2
"""About the width of a letter."""


@dataclass(frozen=True)
class Dots:
    """Points, each a dot; `style` is "dots" for many and "big-dots" for few."""

    x: Floats
    y: Floats
    style: str = "dots"


@dataclass(frozen=True)
class PlottedCurve:
    """A line through points."""

    x: Floats
    y: Floats
    style: str = "curve"


@dataclass(frozen=True)
class Area:
    """The area between a line through points and zero."""

    x: Floats
    y: Floats
    style: str = "area"


@dataclass(frozen=True)
class Level:
    """A line across the chart at one value, with a label; vertical if `upright`."""

    value: float
    label: str
    upright: bool = False
    style: str = "level"


@dataclass(frozen=True)
class Band:
    """All that lies between two values on the horizontal axis."""

    start: float
    end: float
    style: str = "band"


@dataclass(frozen=True)
class Whiskers:
    """An upright line at each x, from a low to a high value."""

    x: Floats
    low: Floats
    high: Floats
    style: str = "whiskers"


Mark = Dots | PlottedCurve | Area | Level | Band | Whiskers


@dataclass(frozen=True)
class Chart:
    """Two axes and the marks between them."""

    name: str
    x: Axis
    y: Axis | LogAxis
    x_label: str
    y_label: str
    description: str
    marks: tuple[Mark, ...]
    legend: tuple[tuple[str, str], ...] = ()
    """Pairs of the style of a curve and what is drawn in it, below the chart."""


def chart(
    name: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    x_label: str,
    y_label: str,
    description: str,
    marks: Iterable[Mark],
    legend: Iterable[tuple[str, str]] = (),
    ends_at_data: bool = False,
) -> Chart:
    """Make a chart whose axes hold the given ranges, widened to round numbers.

    Parameters
    ----------
    name
        Distinguishes it on the page.
    x_range, y_range
        Least and largest value, in the data's units.
    x_label, y_label
        What the axes show, with units where there are any.
    description
        What there is to see, in a sentence.
    marks
        What is drawn, back to front.
    legend
        Pairs of the style of a curve and what is drawn in it.
    ends_at_data
        Whether the x axis ends where its range ends, and not at the next round number.
    """
    x = spanning(*x_range, _LEFT, WIDTH - _RIGHT)
    if ends_at_data and x.low < x_range[1] < x.high:
        x = replace(x, high=x_range[1])
    y = spanning(*y_range, HEIGHT - _BOTTOM, _TOP)
    return Chart(name, x, y, x_label, y_label, description, tuple(marks), tuple(legend))


def log_chart(
    name: str,
    x_range: tuple[float, float],
    y_values: Iterable[float],
    *,
    x_label: str,
    y_label: str,
    description: str,
    marks: Iterable[Mark],
) -> Chart:
    """Make a chart with a logarithmic y axis for values ≥ 0."""
    x = spanning(*x_range, _LEFT, WIDTH - _RIGHT)
    y = log_spanning(y_values, HEIGHT - _BOTTOM, _TOP)
    return Chart(name, x, y, x_label, y_label, description, tuple(marks))


def render(picture: Chart) -> str:
    """Write a chart as one `<svg>` element."""
    lines = legend_lines(picture.legend, WIDTH)
    height = HEIGHT + max((at for _, at in lines), default=0.0)
    below = [
        svg.Element("g", (("transform", f"translate(0 {svg.coordinate(HEIGHT)})"),), tuple(one for one, _ in lines))
    ]
    children = [*elements(picture), *(below if lines else [])]
    return svg.picture(WIDTH, height, children, name=picture.name, description=picture.description).render()


def legend_lines(legend: Iterable[tuple[str, str]], width: float) -> list[tuple[svg.Element, float]]:
    """Return samples and their words in lines, with the height of a line."""
    found: list[tuple[svg.Element, float]] = []
    x, y = 4.0, 12.0
    for style, words in legend:
        wide = _SAMPLE + 6 + _LETTER * len(words) + 18
        if x + wide > width and x > 4.0:
            x, y = 4.0, y + LEGEND
        found.append((svg.line((x, y), (x + _SAMPLE, y), style=style), y))
        found.append((svg.text((x + _SAMPLE + 6, y + 4), words, style="label"), y))
        x += wide
    return found


def elements(picture: Chart) -> list[svg.Element]:
    """Return the elements of a chart, in a picture of WIDTH by HEIGHT."""
    return [*_axes(picture), *(element for mark in picture.marks for element in _draw(mark, picture))]


def _axes(picture: Chart) -> list[svg.Element]:
    x, y = picture.x, picture.y
    elements: list[svg.Element] = []
    for value, label in y.ticks():
        place = y.place(value)
        elements.append(svg.line((x.start, place), (x.end, place), style="grid"))
        elements.append(svg.text((x.start - 5, place + 3.5), label, style="tick end"))
    for value, label in x.ticks():
        place = x.place(value)
        elements.append(svg.line((place, y.start), (place, y.start + 4), style="axis"))
        elements.append(svg.text((place, y.start + 15), label, style="tick middle"))
    elements.append(svg.line((x.start, y.start), (x.end, y.start), style="axis"))
    elements.append(svg.text(((x.start + x.end) / 2, HEIGHT - 6), picture.x_label, style="label middle"))
    elements.append(svg.text((4, 11), picture.y_label, style="label"))
    return elements


def _draw(mark: Mark, picture: Chart) -> list[svg.Element]:
    if isinstance(mark, Level):
        return _level(mark, picture)
    if isinstance(mark, Band):
        start, end = picture.x.place(mark.start), picture.x.place(mark.end)
        return [svg.rect((start, picture.y.end), end - start, picture.y.start - picture.y.end, style=mark.style)]
    if isinstance(mark, Whiskers):
        x, low, high = picture.x.places(mark.x), picture.y.places(mark.low), picture.y.places(mark.high)
        ends = zip(x.tolist(), low.tolist(), high.tolist(), strict=True)
        return [svg.line((at, bottom), (at, top), style=mark.style) for at, bottom, top in ends]
    points = list(zip(picture.x.places(mark.x).tolist(), picture.y.places(mark.y).tolist(), strict=True))
    if not points:
        return []
    if isinstance(mark, Dots):
        return [svg.dots(points, style=mark.style)]
    if isinstance(mark, PlottedCurve):
        return [svg.polyline(points, style=mark.style)]
    ground = picture.y.place(0.0)
    return [svg.polygon([(points[0][0], ground), *points, (points[-1][0], ground)], style=mark.style)]


def _level(mark: Level, picture: Chart) -> list[svg.Element]:
    x, y = picture.x, picture.y
    if mark.upright:
        place = x.place(mark.value)
        late = place > (x.start + x.end) / 2
        at = (place - 4 if late else place + 4, y.end + 8)
        return [
            svg.line((place, y.start), (place, y.end), style=mark.style),
            svg.text(at, mark.label, style="note end" if late else "note"),
        ]
    place = y.place(mark.value)
    above = place - y.end > _LINE
    return [
        svg.line((x.start, place), (x.end, place), style=mark.style),
        svg.text((x.start + 3, place - 4 if above else place + 11), mark.label, style="note"),
    ]
