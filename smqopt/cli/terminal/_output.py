"""Standard output that holds what we print and nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

_STDOUT = 1
_STDERR = 2


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


def show(record: Mapping[str, Any], lines: list[str], *, as_json: bool) -> None:
    """Print one JSON object for machines, or lines for people."""
    click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False) if as_json else "\n".join(lines))
