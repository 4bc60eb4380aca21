"""What has been read of a ledger's file so far, and how the file goes on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smqopt.errors import LedgerError
from smqopt.query.ledger._accounts import Accounts
from smqopt.query.ledger._lines import (
    CANCEL,
    START,
    closing_line,
    hashed_line,
    read_lines,
    torn_charge,
)
from smqopt.query.ledger._locked_file import LockedFile

_FIRST = {"kind": "ledger", "format": "smqopt ledger 1"}
_COPY = "restore the file from a copy"


class Journal:
    """The accounts of a file, kept up to date: only what was appended is read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._forget()

    def _forget(self) -> None:
        self.accounts = Accounts()
        self.head = START
        self._end = 0
        self._lines = 0
        self._named = False
        self._torn = b""
        self._identity: tuple[int, int] | None = None

    def read(self, file: LockedFile | None) -> None:
        """Read what was appended; a torn tail is counted, but left as it is.

        Raises
        ------
        LedgerError
            If the file is damaged, is no ledger, or does not begin with what was read before.
        """
        if file is None or file.size < self._end:
            if self._end:
                raise LedgerError(str(self._path), "has lost lines that were there before", remedy=_COPY)
            return
        if self._identity not in (None, file.identity):
            head, end = self.head, self._end
            self._forget()
            if end and read_lines(file.read_from(0)[:end], where=str(self._path)).head != head:
                raise LedgerError(str(self._path), "was replaced by another ledger", remedy=_COPY)
        self._identity = file.identity
        self._take(file)

    def make_ready(self, file: LockedFile) -> None:
        """Close a torn tail, and name a new ledger, so that a record can be appended."""
        if self._torn:
            file.append(closing_line(self._torn, self.head)[0])
            self._take(file)
        if not self._named:
            self.append(file, _FIRST)

    def append(self, file: LockedFile, record: Mapping[str, Any]) -> None:
        """Append a record and come back when it is on disk; `make_ready` comes first."""
        file.append(hashed_line(record, self.head)[0])
        self._take(file)

    def _take(self, file: LockedFile) -> None:
        data = file.read_from(self._end)
        reading = read_lines(data, self.head, self._end, where=str(self._path), first=self._lines + 1)
        for record in reading.records:
            self._note(record)
        self.head, self._end, self._torn = reading.head, reading.end, reading.torn
        self.accounts.pending = torn_charge(reading.torn)
        if not self._named and not _begins_a_ledger(reading.torn, self.head):
            raise LedgerError(str(self._path), "is not a ledger", remedy="name a ledger, or a file that is not there")

    def _note(self, record: Mapping[str, Any]) -> None:
        """Take one record into the accounts; the first whole one says what file this is."""
        self._lines += 1
        where = f"{self._path} line {self._lines}"
        if record.get("kind") == "torn" or self._named:
            self.accounts.take(record, where)
        elif dict(record) == _FIRST:
            self._named = True
        else:
            raise LedgerError(where, "is not what a ledger begins with", remedy="name a ledger of this version")


def _begins_a_ledger(torn: bytes, head: str) -> bool:
    """Whether this is nothing, or a beginning of the naming line, closed or not.

    Its writers may die one after the other: then it stands behind lines that close torn ones.
    """
    beginning, closed, _ = torn.partition(CANCEL)
    return hashed_line(_FIRST, head)[0].startswith(beginning) and (bool(beginning) or not closed)
