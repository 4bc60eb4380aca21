"""Numbers as users give them, checked: a budget, and a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from smqopt.errors import PRIVATE, InputError
from smqopt.numeric import Floats, double_of, plain_array


def checked_budget(budget: object, where: str = "argument 'budget'") -> float:
    """Check a budget: a finite number ≥ 0, in currency.

    Raises
    ------
    InputError
        If it is anything else.
    """
    if isinstance(budget, bool) or not isinstance(budget, (int, float, np.integer, np.floating)):
        raise InputError(where, "must be a number", value=budget, remedy="write it without quotes, as 1000.0")
    try:
        amount = float(budget)
    except OverflowError:  # a whole number beyond the doubles
        amount = float("inf")
    if not 0 <= amount < float("inf"):
        raise InputError(where, "must be a finite number ≥ 0", value=amount, remedy="correct the budget")
    return amount


def numbers(column: Any, where: str, *, private: bool = False) -> Floats:
    """Turn a column, of numbers or of text, into finite floats, shape (n,).

    Raises
    ------
    InputError
        Naming the first row that does not hold a finite number; the value is withheld where
        `private`.
    """
    array = plain_array(column, where, private=private)
    if array.dtype.kind in "iuf":
        floats = array.astype(np.float64)
    else:
        floats = np.empty(array.shape, dtype=np.float64)
        for row, text in enumerate(array.tolist()):
            try:
                floats[row] = double_of(text)
            except (ValueError, OverflowError) as error:
                raise InputError(
                    f"{where}, row {row + 1}",
                    "must be a number",
                    value=PRIVATE if private else text,
                    remedy="correct the row",
                ) from (None if private else error)
    bad = np.flatnonzero(~np.isfinite(floats))
    if bad.size:
        raise InputError(
            f"{where}, row {bad[0] + 1}",
            "must be a finite number",
            value=PRIVATE if private else float(floats[bad[0]]),
            remedy="correct or drop the row",
        )
    return floats
