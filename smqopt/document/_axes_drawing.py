"""The same charts on matplotlib's axes, for notebooks and for PNG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from smqopt.document._chart import Area, Band, Chart, Dots, Level, Mark, PlottedCurve, Whiskers
from smqopt.document._log_axis import LogAxis
from smqopt.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {
    "second": "#b3541e",
    "ironed": "#b3541e",
    "third": "#4b7f3a",
    "faint": "#a5a8ac",
    "tangent": "#b3541e",
    "strong": "#b3541e",
}
_FIRST, _MUTED = "#1f5fa8", "#57606a"
"""The light colours of the style sheet."""
_DASHES = {"dashed": "--", "dotted": ":", "tangent": "--"}
_INCHES = (6.0, 4.0)


def draw_axes(picture: Chart, ax: Axes | None = None) -> Axes:
    """Draw a chart on matplotlib's axes, those of a new figure where none are given.

    Raises
    ------
    InputError
        If matplotlib is not there, or `ax` is none of its axes.
    """
    if ax is None:
        ax = _figure(in_pyplot=True).subplots()
    elif not hasattr(ax, "get_xlim"):
        kind = type(ax).__name__
        raise InputError("plot: argument 'ax'", "must be matplotlib Axes", value=kind, remedy="leave it out")
    ax.set_xlim(picture.x.low, picture.x.high)
    if isinstance(picture.y, LogAxis):
        ax.set_yscale("log")
        ax.set_ylim(10.0**picture.y.low, 10.0**picture.y.high)
    else:
        ax.set_ylim(picture.y.low, picture.y.high)
    ax.set_xlabel(picture.x_label)
    ax.set_ylabel(picture.y_label)
    names = dict(picture.legend)
    for mark in picture.marks:
        _draw(ax, mark, names)
    if names:
        ax.legend(frameon=False)
    return ax


def png(picture: Chart) -> bytes:
    """Draw a chart as a PNG file.

    Raises
    ------
    InputError
        If matplotlib is not there.
    """
    return _save(picture, format="png", dpi=150, metadata={"Software": None})


def pdf(picture: Chart) -> bytes:
    """Draw a chart as a PDF file, without a date.

    Raises
    ------
    InputError
        If matplotlib is not there.
    """
    return _save(picture, format="pdf", metadata={"CreationDate": None})


def _save(picture: Chart, **how: Any) -> bytes:
    figure = _figure(in_pyplot=False)
    draw_axes(picture, figure.subplots())
    stream = io.BytesIO()
    figure.savefig(stream, bbox_inches="tight", **how)
    return stream.getvalue()


def _figure(*, in_pyplot: bool) -> Any:
    """Make a figure.

    One of pyplot's is shown by notebooks, and kept until it is closed.
    """
    try:
        if in_pyplot:
            from matplotlib.pyplot import figure  # noqa: PLC0415 -- an extra

            return figure(figsize=_INCHES, layout="constrained")
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InputError("plot", "needs matplotlib", remedy='run pip install "smqopt[plot]"') from error
    return Figure(figsize=_INCHES, layout="constrained")


def _draw(ax: Axes, mark: Mark, names: dict[str, str]) -> None:
    style = mark.style.split()
    colour = next((_COLOURS[word] for word in style if word in _COLOURS), _FIRST)
    dash = next((_DASHES[word] for word in style if word in _DASHES), "-")
    match mark:
        case Dots():
            size = 5.0 if "big-dots" in style else 1.5
            ax.plot(mark.x, mark.y, "o", color=colour, markersize=size, clip_on=False)
        case PlottedCurve():
            ax.plot(mark.x, mark.y, color=colour, linestyle=dash, label=names.get(mark.style))
        case Area():
            ax.fill_between(mark.x, mark.y, color=colour, alpha=0.18, linewidth=0)
        case Whiskers():
            ax.vlines(mark.x, mark.low, mark.high, color=colour)
        case Band():
            ax.axvspan(mark.start, mark.end, color=_COLOURS["second"], alpha=0.13, linewidth=0)
        case Level(upright=True):
            ax.axvline(mark.value, color=_MUTED, linestyle="--", linewidth=1)
            ax.annotate(mark.label, (mark.value, 1), (3, -3), xycoords=("data", "axes fraction"), **_near(va="top"))
        case Level():
            ax.axhline(mark.value, color=_MUTED, linestyle="--", linewidth=1)
            ax.annotate(mark.label, (0, mark.value), (3, 3), xycoords=("axes fraction", "data"), **_near(va="bottom"))


def _near(**alignment: str) -> Any:
    return {"textcoords": "offset points", "color": _MUTED, "fontsize": "small", **alignment}
