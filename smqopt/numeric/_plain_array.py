"""Arrays as users give them, without values that are not there."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import PRIVATE, InputError
from smqopt.files import LONGEST_TEXT, NUMBER
from smqopt.numeric._arrays import Floats

_UNFIT = re.compile("[\0\ud800-\udfff]")
_MISSING_TYPES = ("NAType", "NaTType", "MaskedConstant")
"""What pandas and NumPy call a value that is not there; by name, as pandas need not be
installed."""


def plain_array(values: Any, where: str, *, private: bool = False, absent: bool = False) -> NDArray[Any]:
    """Turn what was given into an array in which nothing is masked or missing.

    It may be of whatever kind.

    NumPy drops masks when it makes an array, and what stood under the mask comes to light.

    Parameters
    ----------
    values
        An array, a column of a frame, or a list.
    where
        Its name, for errors.
    private
        Whether an error must not show values.
    absent
        Whether values that are not there become NaN, instead of being refused.

    Returns
    -------
    ndarray
        Objects that are all numbers are given as doubles.

    Raises
    ------
    InputError
        If a value is masked, None or pandas' NA, or a whole number beyond doubles, naming its row;
        or if rows differ in length.
    """
    listed = isinstance(values, (list, tuple))
    truths = [isinstance(one, bool | np.bool_) for one in values] if listed else []
    if any(truths) and not all(truths):
        raise InputError(f"{where}, row {truths.index(True) + 1}", "must be a number", remedy="write 0 or 1")
    if listed and any(type(one).__name__ in _MISSING_TYPES for one in values):
        values = np.array([None if type(one).__name__ in _MISSING_TYPES else one for one in values], dtype=object)
    try:
        array = np.ma.getdata(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError:  # its text may show values
        shown = PRIVATE if private else type(values).__name__
        raise InputError(where, "must be numbers, in rows of one length", value=shown, remedy="give numbers") from None
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    if array.dtype.kind == "O":
        gone = [is_missing(one) for one in array.ravel().tolist()]
        here = np.array(gone, dtype=np.bool_).reshape(array.shape)
        missing = here if missing is None else missing | here
    if missing is not None and missing.any():
        if not absent:
            row = int(np.flatnonzero(missing)[0])
            name = f"{where}, row {row + 1}" if array.ndim else where
            raise InputError(name, "must not be masked or missing", remedy="fill it in, or drop the row")
        array = array.astype(np.float64 if array.dtype.kind in "biuf" else object)
        array[missing] = np.nan
    if array.dtype.kind == "O" and all(_is_number(one) for one in array.ravel().tolist()):
        try:
            return array.astype(np.float64)
        except OverflowError:
            name = f"{where}, row {_row_beyond_doubles(array) + 1}" if array.ndim else where
            shown = PRIVATE if private else "a larger whole number"
            raise InputError(name, "must be doubles", value=shown, remedy="give smaller numbers") from None
    return array


def points(values: Any, name: str) -> Floats:
    """Turn prices or chances into doubles, of whatever shape.

    Raises
    ------
    InputError
        If one is masked, missing or no number.
    """
    if isinstance(values, float) or (type(values) is np.ndarray and values.dtype == np.float64):
        return np.asarray(values, dtype=np.float64)
    where = f"argument {name!r}"
    array = plain_array(values, where)
    try:
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InputError(where, "must be numbers", value=type(values).__name__, remedy="give numbers")


def _row_beyond_doubles(array: NDArray[Any]) -> int:
    """Return the first row that holds a whole number larger than every double."""
    for row, entries in enumerate(array):
        try:
            np.asarray(entries, dtype=np.float64)
        except OverflowError:
            return row
    raise AssertionError("all are doubles")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def double_of(entry: object) -> float:
    """Read a number, or a text that is one: digits 0 to 9, without marks between them.

    Raises
    ------
    ValueError
        If it is none; a truth value is none.
    """
    if isinstance(entry, str):
        text = entry.strip(" \t")
        if not NUMBER.fullmatch(text):
            raise ValueError("no number")
        return float(text)
    if isinstance(entry, bool | np.bool_) or not isinstance(entry, int | float | np.integer | np.floating):
        raise ValueError("no number")  # noqa: TRY004 -- callers name the row, whatever is wrong with it
    return float(entry)


def as_names(values: Any, where: str) -> tuple[str, ...]:
    """Turn names or labels into text that every file can carry.

    Parameters
    ----------
    values
        Texts, numbers or whatever has a text; shape (n,).
    where
        What they are, for errors.

    Returns
    -------
    tuple of str
        One text each.

    Raises
    ------
    InputError
        If one is missing, is too long, or holds NUL or half a character; names the row.
    """
    if hasattr(values, "to_pylist"):  # of pyarrow, whose entries have types of their own
        values = values.to_pylist()
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    texts = []
    for row, entry in enumerate(values):
        if is_missing(entry) or entry != entry or (masked is not None and masked[row]):  # noqa: PLR0124 -- NaN
            raise InputError(f"{where}, row {row + 1}", "must not be masked or missing", remedy="give a name")
        text = str(entry)
        if _UNFIT.search(text) or len(text) > LONGEST_TEXT:
            rule = f"must have at most {LONGEST_TEXT} characters, and neither NUL nor half a character"
            raise InputError(f"{where}, row {row + 1}", rule, value=text[:60], remedy="change the name")
        texts.append(text)
    return tuple(texts)


def is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in _MISSING_TYPES
