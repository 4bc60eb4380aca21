"""One table of a TOML file, read strictly: every error names the file, the line, the key, the value, the rule and the remedy."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import PRIVATE, InputError, nearest
from smqopt.model_files.toml._file import TomlFile, WrittenFloat
from smqopt.model_files.toml._lines import KeyPath

_LONGEST_SHOWN = 60


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

    def __contains__(self, key: str) -> bool:
        return key in self.content

    @property
    def path(self) -> Path:
        """The file's path."""
        return self.file.path

    @property
    def name(self) -> str:
        """The table's name, as "owners" or "constraint 2"; empty for the top of the file."""
        text = ""
        for key in self.keys:
            text += f" {key + 1}" if isinstance(key, int) else f".{key}" if text else key
        return text

    @property
    def header(self) -> str:
        """The table as it is headed, "[owners]" or "[[constraint]] 2"; empty for the top of the file."""
        if not self.keys:
            return ""
        *before, last = self.keys
        if isinstance(last, int):
            return f"[[{'.'.join(str(key) for key in before)}]] {last + 1}"
        return f"[{self.name}]"

    def where(self, key: str, row: int | None = None) -> str:
        """Name a key, or an entry of its array counted from 0, with its file and line."""
        path = (*self.keys, key) if row is None else (*self.keys, key, row)
        entry = "" if row is None else f", row {row + 1}"
        return f"{self.file.place(path)}: key {self._full(key)!r}{entry}"

    @contextlib.contextmanager
    def located(self) -> Iterator[None]:
        """Give errors of lower layers this file, and the line of the key that they speak of; or of the table, where they name none of its keys."""
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

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Raise an `InputError` at the first key that is not known."""
        names = list(known)
        for key in self.content:
            if key not in names:
                raise InputError(self.where(key), "is unknown", remedy=nearest(key, names))

    def text(self, key: str, default: str | None = None) -> str:
        """Give a text; it may be left out where there is a default."""
        return str(self._given(key, default, (str,), "must be text", 'write it in quotes, as "name"'))

    def number(self, key: str) -> float:
        """Give a number as a double."""
        value = self._given(key, None, (int, float), "must be a number", "write it without quotes, as 1000.0")
        double = self._double(value, self.where(key))
        if not math.isfinite(double):
            raise InputError(self.where(key), "must be a finite number", value=_shown(value), remedy="mend it")
        return double

    def whole(self, key: str) -> int:
        """Give a whole number ≥ 0."""
        value = self._given(key, None, (int,), "must be a whole number ≥ 0", "write it without quotes, as 7")
        if value < 0:
            raise InputError(self.where(key), "must be a whole number ≥ 0", value=value, remedy="drop the sign")
        return int(value)

    def integer(self, key: str) -> int:
        """Give a whole number of either sign."""
        return int(self._given(key, None, (int,), "must be a whole number", "write it without quotes, as 90"))

    def choice(self, key: str, known: Iterable[str]) -> str:
        """Give one of the known texts."""
        names, value = list(known), self.text(key)
        if value not in names:
            raise InputError(self.where(key), "is not known", value=_shown(value), remedy=nearest(value, names))
        return value

    def numbers(self, key: str, *, private: bool = False) -> NDArray[np.float64]:
        """Give an array of finite numbers, shape (k,), k ≥ 1; no value is shown in an error where `private`."""
        rows = self._array(key)
        doubles = np.empty(len(rows), dtype=np.float64)
        for row, value in enumerate(rows):
            where = self.where(key, row)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                shown = PRIVATE if private else _shown(value)
                raise InputError(where, "must be a number", value=shown, remedy="write it without quotes, as 0.5")
            doubles[row] = self._double(value, where, private=private)
        bad = np.flatnonzero(~np.isfinite(doubles))
        if bad.size:
            row = int(bad[0])
            shown = PRIVATE if private else _shown(rows[row])
            raise InputError(
                self.where(key, row), "must be a finite number", value=shown, remedy="mend or drop the row"
            )
        return doubles

    def names(self, key: str) -> tuple[str, ...]:
        """Give an array of names: texts or whole numbers."""
        rows = self._array(key)
        for row, value in enumerate(rows):
            if isinstance(value, bool) or not isinstance(value, (int, str)):
                raise InputError(
                    self.where(key, row),
                    "must be a name",
                    value=_shown(value),
                    remedy="write it in quotes",
                )
        return tuple(str(value) for value in rows)

    def table(self, key: str) -> TomlTable:
        """Give a table within this one."""
        value = self._given(key, None, (dict,), "must be a table", f"write [{self._full(key)}]")
        return TomlTable(self.file, value, (*self.keys, key))

    def tables(self, key: str) -> tuple[TomlTable, ...]:
        """Give the tables of an array of tables."""
        rows = self._given(
            key, None, (list,), "must be an array of tables", f"write [[{self._full(key)}]]", shown=False
        )
        for row, value in enumerate(rows):
            if not isinstance(value, dict):
                raise InputError(
                    self.where(key, row),
                    "must be a table",
                    value=_shown(value),
                    remedy=f"write [[{self._full(key)}]]",
                )
        return tuple(TomlTable(self.file, value, (*self.keys, key, row)) for row, value in enumerate(rows))

    def _array(self, key: str) -> list[Any]:
        rows = self._given(key, None, (list,), "must be an array", "write it in brackets, as [0.1, 0.2]", shown=False)
        if not rows:
            raise InputError(self.where(key), "must not be empty", value="0 rows", remedy="give one value an owner")
        return list(rows)

    def _given(
        self, key: str, default: object, kinds: tuple[type, ...], rule: str, remedy: str, *, shown: bool = True
    ) -> Any:
        if key not in self.content:
            if default is None:
                raise InputError(self.where(key), "is missing", remedy="add it to the file")
            return default
        value = self.content[key]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise InputError(
                self.where(key), rule, value=_shown(value) if shown else type(value).__name__, remedy=remedy
            )
        return value

    def _double(self, value: float, where: str, *, private: bool = False) -> float:
        try:
            return float(value)
        except OverflowError as error:
            shown = PRIVATE if private else "a whole number beyond the doubles"
            raise InputError(where, "must be a finite number", value=shown, remedy="write a smaller one") from error

    def _full(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key


def _shown(value: object) -> object:
    if isinstance(value, WrittenFloat) and len(value.text) <= _LONGEST_SHOWN:
        return float(value) if math.isfinite(value) or "inf" in value.text or "nan" in value.text else value.text
    if isinstance(value, (str, int, float)) and len(repr(value)) <= _LONGEST_SHOWN:
        return value
    return type(value).__name__
