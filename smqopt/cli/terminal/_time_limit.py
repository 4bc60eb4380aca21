"""A limit in seconds, on top of the limits of counted work."""

from __future__ import annotations

import _thread
import threading

import click

from smqopt.cli.terminal._options import NUMBER


class Clock:
    """Interrupts the main thread, as a key would, once its time is over."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self.seconds, self.is_over = 0.0, False

    def start(self, seconds: float) -> None:
        """Interrupt after so many seconds."""
        self.seconds, self.is_over = seconds, False
        self._timer = threading.Timer(seconds, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Interrupt no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

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
