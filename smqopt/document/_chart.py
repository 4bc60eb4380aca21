"""A chart: two axes with their labels, and marks in the units of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from smqopt.document import _svg as svg
from smqopt.document._axis import Axis, spanning
from smqopt.document._log_axis import LogAxis, log_spanning
from smqopt.numeric import Floats

WIDTH, HEIGHT = 360.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 18.0, 22.0, 38.0
"""Margins for labels."""
_LINE = 14.0
"""Height of a line of text."""


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
class Label:
    """A few words just above a point: what a curve shows."""

    x: float
    y: float
    text: str
    style: str = "note middle"


@dataclass(frozen=True)
class Whiskers:
    """An upright line at each x, from a low to a high value."""

    x: Floats
    low: Floats
    high: Floats
    style: str = "whiskers"


Mark = Dots | PlottedCurve | Area | Level | Band | Label | Whiskers


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


def chart(
    name: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    x_label: str,
    y_label: str,
    description: str,
    marks: Iterable[Mark],
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
    """
    x = spanning(*x_range, _LEFT, WIDTH - _RIGHT)
    y = spanning(*y_range, HEIGHT - _BOTTOM, _TOP)
    return Chart(name, x, y, x_label, y_label, description, tuple(marks))


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
    return svg.picture(WIDTH, HEIGHT, elements(picture), name=picture.name, description=picture.description).render()


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
    if isinstance(mark, Label):
        return [svg.text((picture.x.place(mark.x), picture.y.place(mark.y) - 5), mark.text, style=mark.style)]
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
