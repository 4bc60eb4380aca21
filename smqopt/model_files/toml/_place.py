"""A table of a TOML file, and where it stands, for errors to say."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from smqopt.errors import InputError
from smqopt.model_files.toml._file import TomlFile
from smqopt.model_files.toml._lines import KeyPath


def full_name(keys: KeyPath) -> str:
    """Write a path of keys as "owners.epsilon" or "constraint 2.at_most"."""
    text = ""
    for key in keys:
        text += f" {key + 1}" if isinstance(key, int) else f".{key}" if text else key
    return text


def place_of(file: TomlFile, keys: KeyPath) -> str:
    """Name a key, or an entry of its array, with its file and line."""
    *before, last = keys
    named, entry = (before, f", row {last + 1}") if isinstance(last, int) else (keys, "")
    return f"{file.place(keys)}: key {full_name(tuple(named))!r}{entry}"


class TomlTable:
    """A table of a TOML file, and where it stands.

    Parameters
    ----------
    file
        The file.
    content
        The table's keys and values.
    keys
        The keys that lead to the table; none for the top of the file.
    """

    def __init__(self, file: TomlFile, content: Mapping[str, Any], keys: KeyPath = ()) -> None:
        self.file = file
        self.content = content
        self.keys = keys

    @property
    def path(self) -> Path:
        """The file's path."""
        return self.file.path

    @property
    def header(self) -> str:
        """The table as it is headed, "[owners]" or "[[constraint]] 2"; empty for the top."""
        if not self.keys:
            return ""
        *before, last = self.keys
        if isinstance(last, int):
            return f"[[{'.'.join(str(key) for key in before)}]] {last + 1}"
        return f"[{full_name(self.keys)}]"

    def where(self, key: str, row: int | None = None) -> str:
        """Name a key, or an entry of its array counted from 0, with its file and line."""
        return place_of(self.file, (*self.keys, key) if row is None else (*self.keys, key, row))

    @contextlib.contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Put the file and the line of the key before errors of lower layers."""
        try:
            yield
        except InputError as error:
            if error.where.startswith(str(self.path)):
                raise
            header = self.header
            inner = error.where.removeprefix(header).removeprefix(": ")
            place = self.file.place((*self.keys, *self.file.spoken_of(self.content, inner)))
            where = ": ".join(part for part in (place, header, inner) if part)
            raise type(error)(where, error.rule, value=error.value, remedy=error.remedy) from error

    def table(self, *keys: str | int) -> TomlTable:
        """Go to a table within this one."""
        content: Any = self.content
        for key in keys:
            content = content[key]
        return TomlTable(self.file, content, (*self.keys, *keys))
