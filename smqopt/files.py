"""Files appear whole or not at all: write beside, then rename."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smqopt.errors import InputError

__all__ = [
    "from_json_number",
    "read_csv",
    "read_json",
    "to_json_number",
    "write_bytes",
    "write_csv",
    "write_json",
    "write_text",
]


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole: first beside its place, then renamed into it."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(beside).chmod(0o644)
        Path(beside).replace(target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file whole, in UTF-8, its line ends as they are."""
    write_bytes(path, text.encode("utf-8"))


def to_json_number(x: float) -> float | str:
    """Make a float fit for JSON: infinities and NaN become the strings "inf", "-inf" and "nan"."""
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
    """Write a JSON object, indented, with keys in the given order; a bare NaN or infinity is refused."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    InputError
        If the file is missing, is not JSON, or holds something else than an object.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), "cannot be read as a text file", remedy=f"check the path: {error}") from error
    try:
        content = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise InputError(f"{path} line {error.lineno}", f"is not JSON: {error.msg}", remedy="write it anew") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # a key twice, a whole number of thousands of digits, or endless nesting
        raise InputError(str(path), f"is not JSON that can be read: {error}", remedy="write it anew") from error
    if not isinstance(content, dict):
        raise InputError(str(path), "must hold a JSON object", value=type(content).__name__, remedy="write it anew")
    return content


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs; one key twice would say two things, and readers differ in which they hear."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return content


def write_csv(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV table; floats keep all their digits (`repr`), so that reading gives the same doubles."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, buffer.getvalue())


def read_csv(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read a CSV table with a header line into columns of text.

    Raises
    ------
    InputError
        If the file is missing, empty, has a repeated column, or has a row of the wrong length.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), "cannot be read as a text file", remedy=f"check the path: {error}") from error
    reader = csv.reader(io.StringIO(text))
    header = next(reader, None)
    if not header:
        raise InputError(str(path), "the table is empty", remedy="give a header line and at least one row")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InputError(str(path), "a column name stands twice", value=repeated[0], remedy="rename one of them")
    rows: list[list[str]] = []
    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise InputError(
                f"{path} line {reader.line_num}",
                f"the row must have {len(header)} fields",
                value=len(row),
                remedy="mend the row",
            )
        rows.append(row)
    if not rows:
        raise InputError(str(path), "the table is empty", value="0 rows", remedy="give at least one row")
    columns = list(zip(*rows, strict=True))
    return {name: list(column) for name, column in zip(header, columns, strict=True)}
