"""Arrays as users give them, without values that are not there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import PRIVATE, InputError

_MISSING_TYPES = ("NAType", "NaTType", "MaskedConstant")
"""What pandas and NumPy call a value that is not there; by name, as pandas need not be installed."""


def plain_array(values: Any, where: str, *, private: bool = False, absent: bool = False) -> NDArray[Any]:
    """Turn what was given into an array, of whatever kind, in which nothing is masked or missing.

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
        If a value is masked, None or pandas' NA, naming its row; or if rows differ in length.
    """
    listed = isinstance(values, (list, tuple))
    if listed and any(type(one).__name__ in _MISSING_TYPES for one in values):
        values = np.array([None if type(one).__name__ in _MISSING_TYPES else one for one in values], dtype=object)
    try:
        array = np.ma.getdata(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError:  # its text may show values
        shown = PRIVATE if private else type(values).__name__
        raise InputError(where, "must be numbers, in rows of one length", value=shown, remedy="give numbers") from None
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    if array.dtype.kind == "O":
        gone = [one is None or type(one).__name__ in _MISSING_TYPES for one in array.ravel().tolist()]
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
        return array.astype(np.float64)
    return array


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
