"""Budgets on the command line: a list, or an even range."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market import numbers

_MOST = 1_000_000
_WHERE = "option '--budgets'"


def read_budgets(text: str) -> NDArray[np.float64]:
    """Read budgets: "100,200,500", or evenly from first to last, "100:500:5".

    Raises
    ------
    InputError
        If a budget is not a finite number, or a range is not of three.

    Examples
    --------
    >>> read_budgets("100:500:5").tolist(), read_budgets("1, 2.5").tolist()
    ([100.0, 200.0, 300.0, 400.0, 500.0], [1.0, 2.5])
    """
    if ":" not in text:
        return numbers(text.split(","), _WHERE)
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError(_WHERE, "must be FIRST:LAST:COUNT or a list", value=text, remedy="write, say, 100:500:5")
    first, last, count = numbers(parts, _WHERE).tolist()
    if not (count == int(count) and 1 <= count <= _MOST):
        raise InputError(_WHERE, f"must count from 1 to {_MOST}", value=parts[2], remedy="write, say, 100:500:5")
    return np.linspace(first, last, int(count))
