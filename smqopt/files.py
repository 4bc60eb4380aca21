"""Files appear whole or not at all: written beside, then renamed."""

from __future__ import annotations

import codecs
import csv
import errno
import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smqopt.errors import InputError, SmqoptError

__all__ = [
    "LONGEST_TEXT",
    "NUMBER",
    "from_json_number",
    "hash_parts",
    "read_csv",
    "read_json",
    "read_text",
    "to_json_number",
    "unwritable",
    "write_bytes",
    "write_csv",
    "write_json",
    "write_text",
]

LONGEST_TEXT = 100_000
"""Names and labels have at most so many characters: readers of CSV stop at 131,072."""
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|nan)")
"""A number as files hold it: digits 0 to 9, without marks between them."""
_FAILURES = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Faults of a disk, that are not faults of the input."""
_LONGEST_NAME = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""How text begins that a spreadsheet takes for a formula."""
_APOSTROPHE = re.compile(rf"\A'(?={_FORMULA.pattern})")
_QUOTED = re.compile(r'[",\r\n]')
_FIELD = re.compile(r'(?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,|\r?\n|\Z)')


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole: first beside its place, then renamed into it.

    A new file has the mode that the process gives to new files, an old one keeps its own.

    Raises
    ------
    InputError
        If the path cannot be that of a file.
    SmqoptError
        If the disk is full, or fails.
    """
    target = Path(path)
    beside = None
    try:
        if target.exists() and not (target.is_file() or target.is_dir()):
            target.write_bytes(content)  # a device or a pipe is written to, and not replaced
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.is_file() else None
        beside = target.with_name(f".{secrets.token_hex(8)}.part")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            beside.chmod(mode)
        beside.replace(target)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def unwritable(path: str | os.PathLike[str], error: Exception) -> SmqoptError:
    """Say why a file or folder cannot be written."""
    number = error.errno if isinstance(error, OSError) else None
    kind = SmqoptError if number in _FAILURES else InputError
    return kind(_name(path), f"cannot be written: {_reason(error)}", remedy="choose another place, or make room")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file whole, in UTF-8, its line ends as they are."""
    write_bytes(path, text.encode("utf-8"))


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a text file in UTF-8, its line ends as they are.

    A byte order mark is left out.

    Raises
    ------
    InputError
        If it is missing, is no file or is not UTF-8.
    """
    remedy = "check the path"
    try:
        if not (Path(path).is_file() or Path(path).is_fifo()) and Path(path).exists():
            raise InputError(_name(path), "is not a file", remedy=remedy)
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(_name(path), f"cannot be read: {_reason(error)}", remedy=remedy) from error
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(_name(path), "is UTF-16, by its byte order mark (BOM)", remedy="save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{_name(path)} line {line}", "is not UTF-8", remedy="save it as UTF-8") from error


def _name(path: str | os.PathLike[str]) -> str:
    text = str(path)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def hash_parts(*parts: bytes | memoryview) -> str:
    """Hash parts, each with its length before it.

    So no two lists of parts run together.

    Returns
    -------
    str
        SHA-256, in hexadecimal digits.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def to_json_number(x: float) -> float | str:
    """Make a float fit for JSON: "inf", "-inf" and "nan" are written as text."""
    return float(x) if math.isfinite(x) else str(float(x))


def from_json_number(x: object, where: str) -> float:
    """Read a float that `to_json_number` wrote.

    Raises
    ------
    InputError
        If `x` is neither a number nor one of "inf", "-inf", "nan".
    """
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        try:
            return float(x)
        except OverflowError as error:
            raise InputError(
                where, "must be a double", value="a larger whole number", remedy="write it anew"
            ) from error
    if x in ("inf", "-inf", "nan"):
        return float(str(x))
    raise InputError(where, "must be a number", value=x, remedy='write a number, or "inf"')


def write_json(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write a JSON object, indented, its keys in order, without bare NaN or infinity."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    InputError
        If the file is missing, is not JSON, or holds something else than an object.
    """
    text = read_text(path)
    try:
        content = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise InputError(f"{path} line {error.lineno}", f"is not JSON: {error.msg}", remedy="write it anew") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # a key twice, a whole number of thousands of digits, or endless nesting
        raise InputError(str(path), f"is not JSON that can be read: {error}", remedy="write it anew") from error
    if "\\ud" in text.lower() and _SURROGATE.search(json.dumps(content, ensure_ascii=False)):
        raise InputError(str(path), "holds half a character, \\ud800 to \\udfff", remedy="write it anew")
    if not isinstance(content, dict):
        raise InputError(str(path), "must hold a JSON object", value=type(content).__name__, remedy="write it anew")
    return content


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs, none of whose keys stands twice.

    Readers differ in what such a key means.
    """
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    """Read a number, and refuse one that overflows.

    What it would be read as was not written.
    """
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text[:40]} is no double")
    return number


def write_csv(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV table; floats keep all their digits.

    Reading gives the same doubles.

    Text that a spreadsheet would take for a formula begins with an apostrophe, which `read_csv`
    leaves out again.
    """
    lines = [",".join(map(_cell, row)) for row in (header, *rows)]
    write_text(path, "\n".join(lines) + "\n")


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    if not isinstance(value, str):
        return text
    if _FORMULA.match(text) and not NUMBER.fullmatch(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def read_csv(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read a CSV table with a header line into columns of text.

    Columns are separated by commas, quotes enclose whole fields and close (RFC 4180), and lines end
    with a line feed, with a carriage return before it or not. No text of the table is shown in an
    error: it may be private, and the file may be another than the one meant.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, has a repeated column, or a row that is no CSV or of
        the wrong length; names the line.
    """
    where, text = _name(path), read_text(path)
    rows: list[list[str]] = []
    header: list[str] | None = None
    for line, row in _rows(text, where):
        if header is None:
            header = row
            _check_header(header, where)
        elif len(row) != len(header):
            raise InputError(
                f"{where} line {line}",
                f"the row must have {len(header)} fields",
                value=len(row),
                remedy="correct the row",
            )
        else:
            rows.append(row)
    if header is None:
        raise InputError(where, "the table is empty", remedy="give a header line and at least one row")
    if not rows:
        raise InputError(where, "the table is empty", value="0 rows", remedy="give at least one row")
    columns = list(zip(*rows, strict=True))
    return {name: list(column) for name, column in zip(header, columns, strict=True)}


def _check_header(header: list[str], where: str) -> None:
    for position, name in enumerate(header):
        if name in header[:position]:
            place = f"{header.index(name) + 1} and {position + 1}"
            raise InputError(where, f"a column name stands twice, in columns {place}", remedy="rename one of them")
    for mark, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and mark in header[0]:
            raise InputError(
                f"{where} line 1",
                f"columns are separated by {name}, and must be by commas",
                remedy="save it with commas",
            )


def _rows(text: str, where: str) -> list[tuple[int, list[str]]]:
    """Read the rows that are not blank, each with the line on which it ends."""
    if '"' in text:
        _check_quotes(text, where)
    reader = csv.reader(io.StringIO(text, newline="\n"), strict=True)
    kept = csv.field_size_limit(max(len(text), 1))
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        rule = "a carriage return stands alone" if "new-line character" in str(error) else f"is not CSV: {error}"
        remedy = "end lines with a line feed, and close quotes"
        raise InputError(f"{where} line {reader.line_num}", rule, remedy=remedy) from error
    finally:
        csv.field_size_limit(kept)
    if "'" not in text:
        return rows
    return [(line, [_APOSTROPHE.sub("", cell) for cell in row]) for line, row in rows]


def _check_quotes(text: str, where: str) -> None:
    """Refuse quotes within a field that is not quoted, or that do not close.

    CSV readers differ on them.
    """
    at = 0
    while at < len(text):
        field = _FIELD.match(text, at)
        if field is None:
            line = text.count("\n", 0, at) + 1
            raise InputError(
                f"{where} line {line}",
                "a quote is not closed, or stands within a field",
                remedy='enclose the field in quotes, and write "" for a quote in it',
            )
        at = field.end()
