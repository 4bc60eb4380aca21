"""A figure as a file: SVG, or PNG where matplotlib is there."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from smqopt.cli.outputs._folder import check_files
from smqopt.document import Figure, png
from smqopt.errors import InputError
from smqopt.files import write_bytes, write_text

TABLE, _SVG, _PNG = ".csv", ".svg", ".png"


def check_tables_and_figures(out: Sequence[str]) -> None:
    """Check, before any work, that tables and figures can be written.

    Raises
    ------
    InputError
        If a name has another ending, its place takes no file, or a PNG needs matplotlib.
    """
    check_files(out, (TABLE, _SVG, _PNG))
    if any(Path(file).suffix == _PNG for file in out) and find_spec("matplotlib") is None:
        raise InputError("option '--out'", "needs the extra 'plot' for .png", remedy='run pip install "smqopt[plot]"')


def write_figure(figure: Figure, file: str) -> None:
    """Write a figure by the ending of the file's name, whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    if Path(file).suffix != _PNG:
        write_text(file, figure.standalone())
        return
    assert figure.chart is not None  # noqa: S101 -- the command line draws one chart a file
    write_bytes(file, png(figure.chart))
