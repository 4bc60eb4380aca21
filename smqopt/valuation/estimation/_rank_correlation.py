"""Spearman's rank correlation of past pairs (ε, θ).

The Pearson correlation of their uniform scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import PRIVATE, InputError
from smqopt.numeric import Floats, align_pairs, plain_array

FEWEST_PAIRS = 3


@dataclass(frozen=True)
class RankCorrelation:
    """ρ by ranks, with its standard error."""

    correlation: float
    standard_error: float
    """From the influence of each pair on ρ, whatever the joint law; 0 where the ranks agree or
    oppose exactly."""
    pairs: int


def checked_pairs(epsilon: ArrayLike, theta: ArrayLike) -> tuple[Floats, Floats]:
    """Check past pairs.

    Two columns of finite numbers ≥ 0 of one length, neither of them constant.

    Raises
    ------
    InputError
        Naming the column and the first row that is bad. Valuations are private and not shown.
    """
    columns = []
    epsilon, theta = align_pairs("past pairs: argument 'theta'", epsilon, theta)
    for name, given, shown in (("epsilon", epsilon, True), ("theta", theta, False)):
        where = f"past pairs: argument {name!r}"
        array = plain_array(given, where, private=not shown)
        if array.ndim != 1 or array.size < FEWEST_PAIRS or array.dtype.kind not in "iuf":
            raise InputError(
                where, f"must hold at least {FEWEST_PAIRS} numbers in shape (m,)", value=array.shape, remedy="give more"
            )
        array = array.astype(np.float64)
        bad = np.flatnonzero(~((array >= 0) & (array < np.inf)))
        if bad.size:
            raise InputError(
                f"{where}, row {bad[0] + 1}",
                "must be a finite number ≥ 0",
                value=float(array[bad[0]]) if shown else PRIVATE,
                remedy="fix or drop the row",
            )
        if np.all(array == array[0]):
            raise InputError(where, "must not be constant", remedy="a constant column says nothing of dependence")
        columns.append(array)
    if columns[0].size != columns[1].size:
        raise InputError(
            "past pairs: argument 'theta'",
            f"must have {columns[0].size} values like 'epsilon'",
            value=columns[1].size,
            remedy="give one valuation a requirement",
        )
    return columns[0], columns[1]


def mid_ranks(x: Floats) -> Floats:
    """Return ranks from 1, ties their mean.

    Examples
    --------
    >>> mid_ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - 0.5 * (counts - 1.0))[inverse]
    return ranks


def rank_correlation(x: Floats, y: Floats) -> RankCorrelation:
    """Estimate ρ by mid-ranks, in O(m log m).

    The covariance of the scores U = F(x), V = G(y) is a functional of the joint law with the
    influence U_i V_i + E[V; x ≥ x_i] + E[U; y ≥ y_i] (Borkowf 2002, *Comput. Stat. Data Anal.* 39);
    dividing by the standard deviations of the scores makes it that of ρ.

    Parameters
    ----------
    x, y
        Shape (m,), neither constant.
    """
    m = x.size
    u, v = ((mid_ranks(column) - 0.5) / m for column in (x, y))
    du, dv = u - u.mean(), v - v.mean()
    spread = math.sqrt(float(du @ du) * float(dv @ dv)) / m
    rho = float(np.clip(float(du @ dv) / m / spread, -1.0, 1.0))
    influence = du * dv + _above(x, dv) + _above(y, du)
    error = float(np.std(influence - influence.mean())) / spread / math.sqrt(m)
    exact = abs(rho) == 1.0
    return RankCorrelation(rho, 0.0 if exact else error, m)


def _above(x: Floats, weight: Floats) -> Floats:
    """Return for each i the mean of weight_j over all j with x_j > x_i.

    Those with x_j = x_i are counted half.
    """
    order: NDArray[np.intp] = np.argsort(x, kind="stable")
    _, first, counts = np.unique(x[order], return_index=True, return_counts=True)
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    up_to = total[first] + 0.5 * (total[first + counts] - total[first])
    out = np.empty(x.size)
    out[order] = np.repeat(total[-1] - up_to, counts) / x.size
    return out
