"""A bar on standard error as work is done; silent where that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

_PARTS = 1000
"""The bar counts whole steps."""


class Progress:
    """Shows which stage is running.

    Parameters
    ----------
    stages
        How many stages there will be.
    """

    def __init__(self, stages: int) -> None:
        self._shown = sys.stderr.isatty()
        self._bar = click.progressbar(length=stages, file=sys.stderr, show_eta=False, show_pos=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show that a stage is running, and that it is done."""
        if not self._shown:
            yield
            return
        self._bar.label = name
        self._bar.render_progress()
        try:
            yield
            self._bar.update(1)
        except BaseException:
            self._bar.render_finish()
            raise
        if self._bar.finished:
            self._bar.render_finish()


class PartsProgress:
    """A bar over the parts of each pass."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._pass = 0

    def __call__(self, done: int, of: int) -> None:
        """Draw how many parts of a pass are done."""
        if not self._shown:
            return
        if done == 1:
            self._pass += 1
            self._bar = click.progressbar(length=of, label=f"pass {self._pass}", file=sys.stderr, show_pos=True)
        self._bar.update(1)
        if done == of:
            self._bar.render_finish()


def work_progress() -> Callable[[float, float], None]:
    """Make what draws how much of the work is done, and the time that is left.

    Returns
    -------
    callable
        Takes how much is done, and how much there is.
    """
    if not sys.stderr.isatty():
        return lambda done, total: None  # noqa: ARG005
    bar = click.progressbar(length=_PARTS, file=sys.stderr)

    def draw(done: float, total: float) -> None:
        bar.update(int(_PARTS * done / total if total > 0 else _PARTS) - bar.pos)
        if bar.finished:
            bar.render_finish()

    return draw
