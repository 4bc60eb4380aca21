"""Standard output that holds what we print and nothing else."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

import click

from smqopt.errors import SmqoptError

_STDOUT = 1
_STDERR = 2
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What steers a terminal, turns the order of a line round, or is half a character."""


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send to standard error what libraries write to standard output meanwhile."""
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)


def printable(text: str) -> str:
    """Write out what would steer a terminal: titles and names come from files."""
    return _UNFIT.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def show(record: Mapping[str, Any], lines: list[str], *, as_json: bool) -> None:
    """Print one JSON object for machines, or lines for people.

    Raises
    ------
    SmqoptError
        If standard output takes no more.
    """
    plain = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    text = json.dumps(record, ensure_ascii=plain, allow_nan=False) if as_json else "\n".join(lines)
    print_text(printable(text) + "\n")


def print_text(text: str) -> None:
    """Write to standard output, at once.

    Raises
    ------
    SmqoptError
        If it takes no more.
    """
    try:
        click.echo(text, nl=False)
        sys.stdout.flush()
    except OSError as error:
        remedy = "the files are written; free the output"
        raise SmqoptError("standard output", f"cannot be written: {error.strerror}", remedy=remedy) from error


def speak_utf8() -> None:
    """Start anew in UTF-8, where the locale would have names of files in ASCII.

    Model files and tables are UTF-8, and so are the names of files in them.
    """
    if sys.getfilesystemencoding().lower() not in ("utf-8", "utf8"):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606


def open_streams() -> None:
    """Make sure of the three standard streams: one that was closed goes nowhere.

    A file that is opened in the place of a closed stream would hold what was meant for that.
    Letters that the encoding of standard output does not have are written out by their number.
    """
    for number in (0, _STDOUT, _STDERR):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(_STDOUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 -- for good
    if sys.stderr is None:
        sys.stderr = open(_STDERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Forget what standard output could not take, so that leaving raises no more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
