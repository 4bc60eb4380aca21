"""Parameters of laws: scalars, or one a owner; checked once, read-only after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError, nearest
from smqopt.numeric import Floats, plain_array, refuse_names
from smqopt.valuation.law._owner_names import without_names

LARGEST = 2.0**1000
"""Largest valuation, in currency: what is spent on many owners is to be a double too."""
NARROWEST = 2.0**-1020
"""Narrowest support, and narrowest piece of a histogram, in currency: the density is to be a double
too."""


def checked_parameters(law: str, **given: ArrayLike) -> dict[str, float | Floats]:
    """Turn parameters into floats or read-only arrays of one common length.

    Raises
    ------
    InputError
        If one is not numeric, not finite, empty, of more than one dimension, or of another length
        than the rest.
    """
    checked: dict[str, float | Floats] = {}
    length: int | None = None
    for name, value in given.items():
        where = f"{law}: parameter {name!r}"
        refuse_names(where, value)
        array = plain_array(value, where)
        if array.dtype.kind not in "iuf":
            raise InputError(
                where, "must be a number or an array of numbers", value=_shown(value), remedy="give numbers"
            )
        array = array.astype(np.float64)
        if array.ndim > 1 or array.size == 0:
            raise InputError(
                where,
                "must be a scalar or have shape (n,) with n > 0",
                value=array.shape,
                remedy="give one value an owner",
            )
        bad = np.flatnonzero(~np.isfinite(np.atleast_1d(array)))
        if bad.size:
            raise InputError(
                _at(where, array, bad[0]),
                "must be finite",
                value=float(np.atleast_1d(array)[bad[0]]),
                remedy="fix the value",
            )
        if array.ndim == 0:
            checked[name] = float(array)
            continue
        if length is not None and array.size != length:
            raise InputError(
                where, f"must have {length} values like the others", value=array.size, remedy="give one an owner"
            )
        length = array.size
        array.flags.writeable = False
        checked[name] = array
    return checked


def checked_law(law: str, positive: tuple[str, ...], **given: ArrayLike) -> dict[str, Any]:
    """Check the parameters of a law with `low` and `high`; some must be positive.

    Names that they came with stand beside them.

    Raises
    ------
    InputError
        Naming the law, the parameter and the first owner that fails.
    """
    values, names = without_names(law, given)
    checked = checked_parameters(law, **values)
    for name in positive:
        require(law, name, checked[name], np.asarray(checked[name]) > 0, "must be positive", f"use {name} > 0")
    checked_support(law, checked["low"], checked["high"])
    return {**checked, **names}


def checked_support(law: str, low: float | Floats, high: float | Floats) -> None:
    """Check 0 ≤ low < high for every owner, and that f and what is spent are doubles.

    Raises
    ------
    InputError
        Naming the law and the first owner that fails.
    """
    require(law, "low", low, np.asarray(low) >= 0, "must not be negative: a valuation is a loss", "use low ≥ 0")
    require(
        law, "high", high, np.asarray(high) > np.asarray(low), "must exceed low", "swap or fix the ends of the support"
    )
    require(
        law,
        "high",
        high,
        np.asarray(high) <= LARGEST,
        "is too large for doubles to add up",
        "use a larger unit of currency",
    )
    width = np.asarray(high) - np.asarray(low)
    require(
        law,
        "high",
        high,
        width >= NARROWEST,
        "is too close to low for a density in doubles",
        "use a smaller unit of currency",
    )


def check_keys(table: Mapping[str, Any], keys: tuple[str, ...], law: str, where: str) -> None:
    """Check that a table holds these keys, and beside them only `law`.

    Raises
    ------
    InputError
        At the first key that is unknown, or missing.
    """
    known = ("law", *keys)
    for key in table:
        if key not in known:
            raise InputError(f"{where}: key {key!r}", "is not known here", remedy=nearest(str(key), known))
    for key in keys:
        if key not in table:
            raise InputError(f"{where}: key {key!r}", f"is missing from {law}", remedy=f"give {key}")


def require(law: str, name: str, value: float | Floats, good: NDArray[np.bool_] | bool, rule: str, remedy: str) -> None:
    """Raise an `InputError` at the first owner whose parameter is not good."""
    flags = np.atleast_1d(np.asarray(good))
    bad = np.flatnonzero(~flags)
    if bad.size:
        array = np.asarray(value)
        shown = float(array) if array.ndim == 0 else float(array[bad[0]])
        where = f"{law}: parameter {name!r}"
        raise InputError(
            where if flags.size == 1 else f"{where} of owner {bad[0] + 1}", rule, value=shown, remedy=remedy
        )


def _at(where: str, array: Floats, index: np.intp) -> str:
    return where if array.ndim == 0 else f"{where} of owner {index + 1}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
