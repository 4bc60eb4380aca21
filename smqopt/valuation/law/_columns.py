"""Parameters of tabular laws.

Columns of finite numbers, none negative, read-only after.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.numeric import Floats, plain_array
from smqopt.valuation.law._parameters import LARGEST


def checked_table(law: str, **columns: ArrayLike) -> tuple[Floats, ...]:
    """Turn columns into read-only arrays; the one called `masses` must hold some mass.

    Raises
    ------
    InputError
        If a column is not a list of finite numbers ≥ 0, or all masses are 0.
    """
    checked = []
    for name, values in columns.items():
        where = f"{law}: parameter {name!r}"
        array = plain_array(values, where)
        if array.ndim != 1 or array.size == 0:
            raise InputError(where, "must be a list of numbers", value=array.shape, remedy="give one number or more")
        if array.dtype.kind not in "iuf":
            raise InputError(where, "must hold numbers", value=str(array.dtype), remedy="give numbers")
        array = array.astype(np.float64) + 0.0  # −0 becomes 0
        bad = np.flatnonzero(~((array >= 0) & np.isfinite(array)))
        if bad.size:
            raise InputError(
                f"{where}, entry {bad[0] + 1}",
                "must be a finite number ≥ 0",
                value=float(array[bad[0]]),
                remedy="fix the entry",
            )
        large = np.flatnonzero(array > LARGEST)
        if name != "masses" and large.size:
            raise InputError(
                f"{where}, entry {large[0] + 1}",
                "is too large for doubles to add up",
                value=float(array[large[0]]),
                remedy="use a larger unit of currency",
            )
        if name == "masses" and not np.any(array > 0):
            raise InputError(where, "must not all be 0", remedy="give the mass or count of each entry")
        array.flags.writeable = False
        checked.append(array)
    return tuple(checked)
