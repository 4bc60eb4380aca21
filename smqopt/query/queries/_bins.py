"""Public bins of a histogram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import NumberList, plain_array
from smqopt.query._entries import bounded_entries


def checked_edges(query: str, edges: ArrayLike) -> tuple[float, ...]:
    """Check the edges of bins: finite numbers, ascending, at least two.

    Raises
    ------
    InputError
        Naming the query, if they are not.
    """
    array = plain_array(edges, f"{query}: argument 'edges'")
    good = array.ndim == 1 and array.size >= 2 and array.dtype.kind in "iuf"
    if not good or not np.all(np.isfinite(array)) or not np.all(np.diff(array.astype(np.float64)) > 0):
        raise InputError(
            f"{query}: argument 'edges'",
            "must be two finite numbers or more, ascending",
            remedy="give the public edges of the bins, as [0, 18, 65, 120]",
        )
    return tuple(array.astype(np.float64).tolist())


def bin_numbers(
    edges: NumberList, data: ArrayLike, owner_ids: Sequence[str], *, clamp: bool = False
) -> NDArray[np.int64]:
    """Return each entry's bin, from 0, shape (k,).

    Bins hold their lower edge, the last one both.

    Raises
    ------
    InputError
        If an entry lies outside the bins; no error shows it.
    """
    entries = bounded_entries(data, owner_ids, edges[0], edges[-1], clamp=clamp)
    return np.minimum(np.searchsorted(edges, entries, side="right") - 1, len(edges) - 2).astype(np.int64)
