"""Who is bought, and for how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Allocation:
    """What a mechanism bought."""

    bought: NDArray[np.bool_]
    """Shape (n,)."""
    spend: float
    """The sum of all payments."""
    spread: float
    """Standard deviation of the payments to the bought relative to their mean; 0 where nothing is
    paid."""


def paid(bought: NDArray[np.bool_], payments: ArrayLike) -> Allocation:
    """Note who is bought, each at her payment, or all at one.

    Parameters
    ----------
    bought
        Shape (n,).
    payments
        Shape (n,), of which those of the bought count; or one number.
    """
    prices = np.asarray(payments, dtype=np.float64)
    if prices.ndim == 0:
        return Allocation(bought, float(prices) * int(np.count_nonzero(bought)), 0.0)
    given = prices[bought]
    spend = float(given.sum())
    return Allocation(bought, spend, float(given.std() / given.mean()) if spend > 0 else 0.0)
