"""Rows as a sparse matrix of coefficients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.numeric import Floats

_ROUNDING = 2.0**-52
"""Of a sum of coefficients of owners who share a price, for each of them, relative to its terms."""


def coefficient_matrix(
    entries: Sequence[tuple[NDArray[np.intp], Floats]], row_of_owner: NDArray[np.intp] | None, n: int
) -> sparse.csr_array:
    """Lay out rows, owners who share a price in one column; shape (k, n′)."""
    columns = [owners if row_of_owner is None else row_of_owner[owners] for owners, _ in entries]
    starts = np.concatenate([[0], np.cumsum([owners.size for owners in columns])]).astype(np.intp)
    values = np.concatenate([np.empty(0), *(coefficients for _, coefficients in entries)])
    places = np.concatenate([np.empty(0, dtype=np.intp), *columns])
    matrix, sizes, counts = (
        sparse.csr_array((each, places.copy(), starts.copy()), shape=(len(entries), n))
        for each in (values, np.abs(values), np.ones(values.size))
    )
    for each in (matrix, sizes, counts):
        each.sum_duplicates()
    if row_of_owner is not None:  # what cancels but for rounding is nothing: no multiplier hangs on it
        matrix.data[np.abs(matrix.data) <= counts.data * sizes.data * _ROUNDING * (counts.data > 1)] = 0.0
        matrix.eliminate_zeros()
    return matrix
