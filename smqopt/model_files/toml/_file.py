"""A TOML file: what it holds, and at which line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from smqopt.errors import InputError
from smqopt.files import read_text
from smqopt.model_files.toml._lines import KeyPath, key_lines

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")
_TWICE = ("Cannot overwrite", "Cannot declare", "Cannot mutate", "Cannot redefine")
"""How `tomllib` begins to speak of what is said twice."""
_ENDLESS = re.compile(r"\d(?:_?\d){4000}")
_WORD = re.compile(r"[\w-]+")
_ROW = re.compile(r"^ ?,? ?(?:\()?(?:row|law|owner) (\d+)")


class WrittenFloat(float):
    """A double, and the digits that stand in the file; 1e999 is infinity."""

    text: str

    def __new__(cls, text: str) -> WrittenFloat:
        """Read a number."""
        made = super().__new__(cls, text)
        made.text = text
        return made


@dataclass(frozen=True, eq=False)
class TomlFile:
    """A document, read."""

    path: Path
    text: str
    content: Mapping[str, Any]

    @cached_property
    def lines(self) -> Mapping[KeyPath, int]:
        """The line of every key, worked out when an error first asks for one."""
        return key_lines(self.text)

    def place(self, keys: KeyPath) -> str:
        """Name the file, and the line of a key, or of the table that lacks it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return f"{self.path} line {self.lines[keys]}" if keys else str(self.path)

    def spoken_of(self, content: Mapping[str, Any], words: str) -> KeyPath:
        """Find the innermost key of a table that words name last, with its row."""
        best: KeyPath = ()
        path: KeyPath = ()
        level: Any = content
        for word in _WORD.finditer(words):
            name = word.group()
            if not (isinstance(level, Mapping) and name in level):
                path, level = (), content
            if name in level:
                path, level = (*path, name), level[name]
                row = _ROW.match(words[word.end() :].lstrip("'\""))
                if isinstance(level, list) and row is not None and 1 <= int(row.group(1)) <= len(level):
                    path, level = (*path, int(row.group(1)) - 1), level[int(row.group(1)) - 1]
                best = path
        return best


def read_toml(path: Path) -> TomlFile:
    """Read a TOML file; numbers become the nearest doubles.

    Raises
    ------
    InputError
        If the file is missing or is not TOML; says the line.
    """
    text = read_text(path)
    try:
        return TomlFile(path, text, tomllib.loads(text, parse_float=WrittenFloat))
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(path, text, str(error)) from error
    except ValueError as error:  # a whole number of thousands of digits
        digits = _ENDLESS.search(text)
        line = "" if digits is None else f" line {text.count(chr(10), 0, digits.start()) + 1}"
        raise InputError(f"{path}{line}", f"is not TOML that can be read: {error}", remedy="correct it") from error
    except RecursionError as error:
        raise InputError(
            str(path), "is not TOML that can be read: it is nested too deep", remedy="correct it"
        ) from error


def _not_toml(path: Path, text: str, message: str) -> InputError:
    """Name the line; no value is shown, for it may be private."""
    place = _PLACE.search(message)
    lines = text.splitlines()
    number = len(lines) if place is None or place.group(1) is None else int(place.group(1))
    told = _PLACE.sub("", message)
    if told.startswith(_TWICE) and 1 <= number <= len(lines):
        key = lines[number - 1].partition("=")[0].strip()
        return InputError(f"{path} line {number}: {key}", f"is not TOML: stands twice ({told})", remedy="keep one")
    return InputError(f"{path} line {number}", f"is not TOML: {told}", remedy="correct the line")
