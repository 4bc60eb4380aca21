r"""The lines of a ledger, each with the hash of itself and all before it.

So a torn last line is told from a damaged one.

A line is `hash space text newline`; text is JSON in ASCII, and hash = SHA-256(previous hash, space,
text). So no line can be changed, dropped from the middle or moved without its hash, or that of the
next line, failing.

One writer at a time appends one line and waits until it is on disk. A writer that dies leaves a
beginning of its line, without a newline: a *torn tail*. It is not erased. The next writer appends,
on the same line, the sign \x18 (cancel), which JSON in ASCII never holds, and a line of kind "torn"
with length and hash of what stands before the sign. A writer that dies while doing so leaves a torn
tail again. Anything else that does not fit is damage, and no line after it is believed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smqopt.errors import LedgerError

Record = Mapping[str, Any]

START = hashlib.sha256(b"smqopt ledger 1").hexdigest()
"""The hash before the first line."""
CANCEL = b"\x18"
"""Cuts a torn tail off from the line that closes it."""
_HASH = 64
_TORN_CHARGE = re.compile(rb'"group":"([0-9a-f]{64})","share":"([0-9]{1,40}/[0-9]{1,40})"')


@dataclass(frozen=True)
class LineReading:
    """What a stretch of a ledger says."""

    records: tuple[Record, ...]
    head: str
    """The hash of the last good line."""
    end: int
    """Where the last good line ends, in bytes from the start of the file."""
    torn: bytes
    """What stands after it."""


@dataclass(frozen=True)
class TornCharge:
    """A charge of which enough can be read to count it."""

    group: str
    share: str


def hashed_line(record: Record, head: str) -> tuple[bytes, str]:
    """Return the line of a record, and its hash."""
    text = json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    new_head = _hash(head, text.encode("ascii"))
    return f"{new_head} {text}\n".encode("ascii"), new_head


def closing_line(torn: bytes, head: str) -> tuple[bytes, str]:
    """Return what to append after a torn tail, and the hash then in force."""
    seen = torn_charge(torn)
    record = {
        "kind": "torn",
        "bytes": len(torn),
        "sha256": hashlib.sha256(torn).hexdigest(),
        "charged": None if seen is None else [seen.group, seen.share],
    }
    line, new_head = hashed_line(record, head)
    return CANCEL + line, new_head


def torn_charge(torn: bytes) -> TornCharge | None:
    """Read the charge in a torn tail, if it says whom it charges and how much.

    If there is not, nothing was released on it: a release waits until the whole line is on disk.
    """
    found = _TORN_CHARGE.search(torn.split(CANCEL, 1)[0])
    return None if found is None else TornCharge(found[1].decode(), found[2].decode())


def read_lines(
    data: bytes, head: str = START, offset: int = 0, *, where: str = "ledger", first: int = 1
) -> LineReading:
    """Read the lines of a stretch of a ledger.

    Parameters
    ----------
    data
        The bytes from `offset` on.
    head
        The hash of the line before.
    offset
        Where the stretch begins; a line begins there.
    where, first
        The file and the number of the first line, for errors.

    Raises
    ------
    LedgerError
        If a line is damaged: one that ends in a newline and does not fit.
    """
    *whole, torn = data.split(b"\n")
    records = []
    end = offset
    for k, line in enumerate(whole):
        before, sign, last = line.rpartition(CANCEL)
        record = _parse(last, head)
        closes = record is not None and record.get("kind") == "torn"
        if record is None or bool(sign) != closes or (closes and not _is_of(record, before)):
            raise LedgerError(
                f"{where} line {first + k}",
                "is damaged: its hash does not fit what it says and what stands before it",
                remedy="no charge can be believed from here on; restore the file from a copy, or take all its owners' requirements for spent",
            )
        head = last[:_HASH].decode("ascii")
        records.append(record)
        end += len(line) + 1
    return LineReading(tuple(records), head, end, torn)


def _parse(line: bytes, head: str) -> dict[str, Any] | None:
    """Return the record of a line, or None if it does not fit."""
    text = line[_HASH + 1 :]
    if line[: _HASH + 1] != f"{_hash(head, text)} ".encode("ascii"):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):  # hashed by another hand
        return None
    return record if isinstance(record, dict) else None


def _is_of(record: Record, torn: bytes) -> bool:
    seen = torn_charge(torn)
    charged = None if seen is None else [seen.group, seen.share]
    said = (record.get("bytes"), record.get("sha256"), record.get("charged"))
    return said == (len(torn), hashlib.sha256(torn).hexdigest(), charged)


def _hash(head: str, text: bytes) -> str:
    return hashlib.sha256(head.encode("ascii") + b" " + text).hexdigest()
