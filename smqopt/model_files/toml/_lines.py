"""The lines at which the keys of a TOML file stand, which `tomllib` drops.

The text is known to be TOML when it comes here, so that only its outline is read: keys, headers,
and where values begin and end. tomlkit keeps no places either (its issue 55).
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]
"""Keys from the top of the file; whole numbers count entries of arrays from 0."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL = r"'''(?:.|\n)*?'''(?!')'{0,2}|'[^'\n]*'"
_BASIC = r'"""(?:[^\\]|\\(?:.|\n))*?"""(?!")"{0,2}|"(?:[^"\\\n]|\\.)*"'
_STRING = re.compile(f"{_LITERAL}|{_BASIC}")
_SCALAR = re.compile(r"[^,\]}#\n]*")
_DEEPEST = 16
"""Entries of arrays and tables nested deeper than this have no lines of their own."""


def key_lines(text: str) -> Mapping[KeyPath, int]:
    r"""Return the line, from 1, of every key, table and entry of an array.

    Parameters
    ----------
    text
        A document that `tomllib.loads` reads.

    Examples
    --------
    >>> lines = key_lines("budget = 1\n\n[owners]\nepsilon = [\n  0.5,\n  1.0,\n]\n")
    >>> lines["budget",], lines["owners",], lines["owners", "epsilon"], lines["owners", "epsilon", 1]
    (1, 3, 4, 6)
    """
    return _Outline(text).lines


class _Outline:
    """Reads a document from its first character to its last."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        self.lines: dict[KeyPath, int] = {}
        self.tables: dict[KeyPath, int] = {}
        """How many entries an array of tables has."""
        self.at = 0
        self._document()

    def _document(self) -> None:
        table: KeyPath = ()
        while self._skip(_BLANK) < len(self.text):
            start = self.at
            if self.text.startswith("[", start):
                several = self.text.startswith("[[", start)
                self.at += 2 if several else 1
                table = self._header(self._keys(), several=several)
                for length in range(1, len(table) + 1):
                    self.lines.setdefault(table[:length], self._line(start))
                self.at += 2 if several else 1
            else:
                self._pair(table, 0)

    def _header(self, keys: list[str], *, several: bool) -> KeyPath:
        """Return the path of a header, with the last entry of each array of tables."""
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._last((*path, key))
        path = (*path, keys[-1])
        if not several:
            return self._last(path)
        self.tables[path] = self.tables.get(path, 0) + 1
        return self._last(path)

    def _last(self, path: KeyPath) -> KeyPath:
        return (*path, self.tables[path] - 1) if path in self.tables else path

    def _pair(self, table: KeyPath, depth: int) -> None:
        start = self.at
        path = table
        for key in self._keys():
            path = (*path, key)
            self.lines.setdefault(path, self._line(start))
        self.at += 1  # the sign =
        self._value(path, depth)

    def _value(self, path: KeyPath, depth: int) -> None:
        self._skip(_SPACE)
        string = _STRING.match(self.text, self.at)
        if string is not None:
            self.at = string.end()
        elif self.text.startswith(("[", "{"), self.at):
            self._nesting(path, depth)
        else:
            self._skip(_SCALAR)

    def _nesting(self, path: KeyPath, depth: int) -> None:
        if depth == _DEEPEST:
            self._leap()
            return
        array = self.text[self.at] == "["
        close = "]" if array else "}"
        self.at += 1
        entry = 0
        while True:
            self._skip(_BLANK)
            if self.text.startswith(close, self.at):
                break
            if array:
                self.lines[(*path, entry)] = self._line(self.at)
                self._value((*path, entry), depth + 1)
                entry += 1
            else:
                self._pair(path, depth + 1)
            self._skip(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1
        self.at += 1

    def _leap(self) -> None:
        """Pass over what is nested, however deep."""
        depth = 0
        while True:
            string = _STRING.match(self.text, self.at)
            if string is not None:
                self.at = string.end()
                continue
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(self.text[self.at], 0)
            self.at += 1
            if depth == 0:
                return
            self._skip(_BLANK)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_SPACE)
            quoted = _STRING.match(self.text, self.at)
            if quoted is not None:
                self.at = quoted.end()
                keys.append(str(tomllib.loads(f"key = {quoted.group()}")["key"]))
            else:
                start = self.at
                self._skip(_BARE_KEY)
                keys.append(self.text[start : self.at])
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return self.at

    def _line(self, place: int) -> int:
        return bisect_right(self.starts, place)
