"""One table of a TOML file, read strictly: every error names the file, the key, the value, the rule and the remedy."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import PRIVATE, InputError, nearest
from smqopt.program.numbers import numbers

__all__ = ["TomlTable", "read_toml"]

_LONGEST_SHOWN = 60


class TomlTable:
    """A table of a TOML file, and where it stands.

    Parameters
    ----------
    path
        The file.
    content
        The table's keys and values.
    name
        The table's name; empty for the top of the file.
    """

    def __init__(self, path: Path, content: Mapping[str, Any], name: str = "") -> None:
        self.path = path
        self.content = content
        self.name = name

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def where(self, key: str) -> str:
        """Name a key and its file."""
        return f"{self.path}: key {self._full(key)!r}"

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
        return float(numbers([self._double(value, self.where(key))], self.where(key))[0])

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
            where = f"{self.where(key)}, row {row + 1}"
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                shown = PRIVATE if private else _shown(value)
                raise InputError(where, "must be a number", value=shown, remedy="write it without quotes, as 0.5")
            doubles[row] = self._double(value, where, private=private)
        return numbers(doubles, self.where(key), private=private)

    def names(self, key: str) -> tuple[str, ...]:
        """Give an array of names: texts or whole numbers."""
        rows = self._array(key)
        for row, value in enumerate(rows):
            if isinstance(value, bool) or not isinstance(value, (int, str)):
                raise InputError(
                    f"{self.where(key)}, row {row + 1}",
                    "must be a name",
                    value=_shown(value),
                    remedy="write it in quotes",
                )
        return tuple(str(value) for value in rows)

    def table(self, key: str) -> TomlTable:
        """Give a table within this one."""
        value = self._given(key, None, (dict,), "must be a table", f"write [{self._full(key)}]")
        return TomlTable(self.path, value, self._full(key))

    def tables(self, key: str) -> tuple[TomlTable, ...]:
        """Give the tables of an array of tables."""
        rows = self._given(
            key, None, (list,), "must be an array of tables", f"write [[{self._full(key)}]]", shown=False
        )
        for row, value in enumerate(rows):
            if not isinstance(value, dict):
                raise InputError(
                    f"{self.where(key)}, row {row + 1}",
                    "must be a table",
                    value=_shown(value),
                    remedy=f"write [[{self._full(key)}]]",
                )
        return tuple(TomlTable(self.path, value, f"{self._full(key)} {row + 1}") for row, value in enumerate(rows))

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


def read_toml(path: Path) -> TomlTable:
    """Read a TOML file; numbers become the nearest doubles.

    Raises
    ------
    InputError
        If the file is missing or is not TOML; says the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), "cannot be read as a text file", remedy=f"check the path: {error}") from error
    try:
        return TomlTable(path, tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), f"is not TOML: {error}", remedy="mend the line") from error


def _shown(value: object) -> object:
    if isinstance(value, (str, int, float)) and len(repr(value)) <= _LONGEST_SHOWN:
        return value
    return type(value).__name__
