"""A limit in seconds, on top of the limits of counted work."""

from __future__ import annotations

import _thread
import sys
import threading
from typing import TYPE_CHECKING

import click

from smqopt.cli.terminal._options import NUMBER

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_AGAIN = 0.01
"""Seconds after which an interrupt that was lost comes again."""


class Clock:
    """Interrupts the main thread, as a key would, once its time is over.

    Python drops what is raised while an object is taken away; an interrupt that is dropped comes
    again.
    """

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._hook = sys.unraisablehook
        self.seconds, self.is_over = 0.0, False

    def start(self, seconds: float) -> None:
        """Interrupt after so many seconds."""
        self.stop()
        self.seconds, self.is_over = seconds, False
        self._hook, sys.unraisablehook = sys.unraisablehook, self._repeat
        self._ring_in(seconds)

    def stop(self) -> None:
        """Interrupt no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            sys.unraisablehook = self._hook

    def _ring_in(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def _repeat(self, lost: UnraisableHookArgs) -> None:
        if self.is_over and lost.exc_type is KeyboardInterrupt:
            self._ring_in(_AGAIN)
        else:
            self._hook(lost)

    def _ring(self) -> None:
        self.is_over = True
        _thread.interrupt_main()


CLOCK = Clock()


def _start(ctx: click.Context, param: click.Parameter, value: float | None) -> None:
    if value is None or ctx.resilient_parsing:
        return
    if not 0 < value <= threading.TIMEOUT_MAX:
        raise click.BadParameter(f"{value!r} is not a number of seconds above 0", ctx, param)
    CLOCK.start(value)


TIME_LIMIT = click.Option(
    ["--time-limit"],
    type=NUMBER,
    metavar="SECONDS",
    expose_value=False,
    callback=_start,
    help="Stop after so many seconds, with an error and no output; work is limited by counts anyhow.",
)
