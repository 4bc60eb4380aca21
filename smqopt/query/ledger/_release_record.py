"""A release in two phases: intent, answer kept beside it, confirmation.

1. Room for the answer is taken on disk, then the charge is written: the intent. A disk that is full
   stops here, and nothing was charged.
2. The answer is drawn and kept in the folder `LEDGER.answers`, under the charge's number.
3. The charge is confirmed.

Whoever dies on the way leaves an unconfirmed charge. The next release for the same purpose (owners,
requirements, share, note) finds it and finishes it: with the answer that was kept, or, where none
was, with a first one. An answer goes nowhere before it is kept, so no noise is drawn twice for one
charge that anybody saw.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smqopt.errors import LedgerError
from smqopt.files import read_json
from smqopt.query.ledger._charge import Charge
from smqopt.query.ledger._locked_file import locked_file, sync_folder


class AnswerFolder:
    """The answers drawn on a ledger's charges, as records for the broker."""

    def __init__(self, ledger_path: Path) -> None:
        self.path = ledger_path.with_name(f"{ledger_path.name}.answers")

    @contextmanager
    def alone(self, patience: float) -> Iterator[None]:
        """Hold the folder: one release at a time, so none is finished twice."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(str(self.path), f"cannot be made ({error.strerror})", remedy="make room") from error
        with locked_file(self.path / "lock", write=True, create=True, patience=patience):
            yield

    def answer_to(self, number: str) -> Mapping[str, Any] | None:
        """Return the answer that was kept for a charge; None where there is none."""
        path = self._file(number)
        return read_json(path) if path.exists() else None

    def take_room(self, number: str, size: int) -> None:
        """Take room on disk for an answer, before anything is charged.

        Raises
        ------
        LedgerError
            If there is no room.
        """
        part = self._part(number)
        try:
            with part.open("wb") as stream:
                stream.write(b" " * size)
                stream.flush()
                os.fsync(stream.fileno())
            sync_folder(self.path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise LedgerError(
                str(self.path), f"has no room for the answer ({error.strerror}); nothing was drawn", remedy="make room"
            ) from error

    def keep(self, number: str, content: Mapping[str, Any]) -> None:
        """Keep an answer, in the room that was taken; on disk when this returns."""
        data = (json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")
        part = self._part(number)
        with part.open("r+b") as stream:
            stream.write(data)
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(self._file(number))
        sync_folder(self.path)

    def drop_room(self, number: str) -> None:
        """Return room that no charge came to need."""
        self._part(number).unlink(missing_ok=True)

    def drop_rooms(self, but: Set[str]) -> None:
        """Return all room that was never charged, but that of some charges."""
        for part in self.path.glob("*.part"):
            if part.stem not in but:
                part.unlink(missing_ok=True)

    def _file(self, number: str) -> Path:
        return self.path / f"{number}.json"

    def _part(self, number: str) -> Path:
        return self.path / f"{number}.part"


class Release:
    """A release under way: its charge, and the answer if an earlier try kept one."""

    def __init__(self, folder: AnswerFolder, charge: Charge) -> None:
        self._folder = folder
        self.charge = charge
        self.kept = folder.answer_to(charge.number)

    def keep(self, content: Mapping[str, Any]) -> None:
        """Keep the answer, before anybody sees it."""
        self._folder.keep(self.charge.number, content)
        self.kept = content
