"""A small writer of inline SVG: elements are data, escaped when written."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from smqopt.errors import InputError

SVG = "http://www.w3.org/2000/svg"

Point = tuple[float, float]

_DIGITS = 9
"""Of a coordinate after the point, that rounding errors leave as they are."""


@dataclass(frozen=True)
class Element:
    """One SVG element: a tag, its attributes in order, and what stands inside it."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Element | str, ...] = ()

    def render(self) -> str:
        """Write the element as XML."""
        attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in self.attributes)
        if not self.children:
            return f"<{self.tag}{attributes}/>"
        inner = "".join(
            html.escape(child, quote=False) if isinstance(child, str) else child.render() for child in self.children
        )
        return f"<{self.tag}{attributes}>{inner}</{self.tag}>"


def picture(width: float, height: float, children: Iterable[Element], *, name: str, description: str) -> Element:
    """Make a whole picture in its own units, as wide as the page lets it.

    Parameters
    ----------
    width, height
        Size of the picture, in its units; text is legible where a unit is about a pixel.
    name
        Distinguishes it on the page: letters, digits and hyphens.
    description
        What there is to see, in a sentence, for readers who do not see it.
    """
    attributes = (
        ("xmlns", SVG),
        ("viewBox", f"0 0 {coordinate(width)} {coordinate(height)}"),
        ("role", "img"),
        ("aria-labelledby", f"{name}-description"),
    )
    description_element = Element("desc", (("id", f"{name}-description"),), (description,))
    return Element("svg", attributes, (description_element, *children))


def group(children: Iterable[Element], *, style: str) -> Element:
    """Gather elements under one class of the style sheet."""
    return Element("g", (("class", style),), tuple(children))


def line(start: Point, end: Point, *, style: str) -> Element:
    """Draw a straight line."""
    return polyline([start, end], style=style)


def polyline(points: Sequence[Point], *, style: str) -> Element:
    """Draw an open line through points."""
    return Element("path", (("class", style), ("d", _path(points))))


def polygon(points: Sequence[Point], *, style: str) -> Element:
    """Draw a closed area."""
    return Element("path", (("class", style), ("d", _path(points) + "Z")))


def dots(points: Sequence[Point], *, style: str) -> Element:
    """Draw many dots as one path of lines without length, with round ends."""
    return Element("path", (("class", style), ("d", "".join(f"M{_pair(point)}h0" for point in points))))


def rect(corner: Point, width: float, height: float, *, style: str) -> Element:
    """Draw a rectangle from its top left corner."""
    place = (("x", coordinate(corner[0])), ("y", coordinate(corner[1])))
    size = (("width", coordinate(width)), ("height", coordinate(height)))
    return Element("rect", (("class", style), *place, *size))


def text(at: Point, content: str, *, style: str, turn: float = 0.0) -> Element:
    """Write a text, turned by `turn` degrees about its point."""
    x, y = coordinate(at[0]), coordinate(at[1])
    turned = (("transform", f"rotate({coordinate(turn)} {x} {y})"),) if turn else ()
    return Element("text", (("class", style), ("x", x), ("y", y), *turned), (content,))


def coordinate(x: float) -> str:
    """Write a coordinate to a tenth of a unit.

    Round grids have places halfway between two tenths; nine digits settle them, not the last bits
    of a sum that machines add in different orders.

    Raises
    ------
    InputError
        If it is not finite.

    Examples
    --------
    >>> coordinate(12.3456), coordinate(3.0), coordinate(-0.01)
    ('12.3', '3', '0')
    >>> coordinate(103.35 - 1e-13) == coordinate(103.35 + 1e-13)
    True
    """
    if not math.isfinite(x):
        raise InputError("svg", "a coordinate must be finite", value=x, remedy="leave the point out")
    return f"{round(round(x, _DIGITS), 1) + 0.0:.1f}".removesuffix(".0")


def _pair(point: Point) -> str:
    return f"{coordinate(point[0])} {coordinate(point[1])}"


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(_pair(point) for point in points)
