"""A limit in seconds, on top of the limits of counted work."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from typing import TYPE_CHECKING

import click

from smqopt.cli.terminal._options import NUMBER

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

_AGAIN = 0.1
"""Seconds after which an interrupt that was lost comes again."""


class Clock:
    """Interrupts the main thread, as a key would, once its time is over.

    Python drops what is raised while an object is taken away; an interrupt that is dropped comes
    again. A shell makes what it starts in the background deaf to the key; the clock is heard there.
    """

    def __init__(self) -> None:
        self.seconds, self.is_over = 0.0, False
        self._stopped, self._lost = threading.Event(), threading.Event()
        self._stopped.set()
        self._hook, self._is_deaf = sys.unraisablehook, False

    def start(self, seconds: float) -> None:
        """Interrupt after so many seconds."""
        self.stop()
        self.seconds, self.is_over = seconds, False
        self._stopped, self._lost = threading.Event(), threading.Event()
        self._hook, sys.unraisablehook = sys.unraisablehook, self._repeat
        self._is_deaf = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        if self._is_deaf:
            signal.signal(signal.SIGINT, self._hear_clock)
        threading.Thread(target=self._ring, args=(seconds, self._stopped, self._lost), daemon=True).start()

    def stop(self) -> None:
        """Interrupt no more."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._lost.set()
            sys.unraisablehook = self._hook
            if self._is_deaf:
                signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _ring(self, seconds: float, stopped: threading.Event, lost: threading.Event) -> None:
        if stopped.wait(seconds):
            return
        self.is_over = True
        while not stopped.is_set():
            _thread.interrupt_main()
            lost.wait()
            lost.clear()
            stopped.wait(_AGAIN)

    def _hear_clock(self, number: int, frame: FrameType | None) -> None:
        if self.is_over:
            signal.default_int_handler(number, frame)

    def _repeat(self, dropped: UnraisableHookArgs) -> None:
        if self.is_over and dropped.exc_type is KeyboardInterrupt:
            self._lost.set()
        else:
            self._hook(dropped)


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
