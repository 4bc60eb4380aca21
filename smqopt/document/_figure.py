"""A figure: a picture and what is said below it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from smqopt.document._chart import Chart, render

_STYLES = ("colours.css", "figure.css")


@dataclass(frozen=True)
class Figure:
    """A picture and its caption."""

    svg: str
    """One `<svg>` element, coloured by the style sheet of the page it stands on."""
    caption: str
    chart: Chart | None = None
    """What is drawn, where that is one chart."""

    @classmethod
    def of(cls, drawn: Chart, caption: str) -> Figure:
        """Make a figure of one chart."""
        return cls(render(drawn), caption, drawn)

    def standalone(self) -> str:
        """Write the picture as a file of its own, which holds its style."""
        templates = resources.files("smqopt.document") / "templates"
        style = "".join((templates / name).read_text(encoding="utf-8") for name in _STYLES)
        start = self.svg.index(">") + 1
        ground = "svg { background: var(--paper); }"
        return f"{self.svg[:start]}\n<style>\n{style}{ground}\n</style>\n{self.svg[start:]}\n"
