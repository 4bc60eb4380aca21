"""Prices at which owners of different laws sell alike.

Owners i and j who share a price, where i may sell no more often than j must, satisfy Σ x(p) (F_i(p)
− F_j(p)) ≤ 0. Where F_i is above F_j at all prices between the outer ends of their supports that
leaves no offer, and prices at which both sell for sure; and the same holds for the difference of
the mean acceptances, or payments, of groups in parity. Multipliers of the rows, however large,
would only come near to it. That no price in between is left is proved in balls, or the rows stand
as they are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from scipy import sparse

from smqopt.market._market import Market
from smqopt.market.pooling._blocks import Blocks
from smqopt.numeric import Floats, Indices, Mask

_POINTS = 65
"""Prices at which signs are looked at in doubles before a proof is tried."""
_ROUNDING = 2.0**-44
_FEW = 8
"""Rows with one bound of acceptance that are compared with others."""
_FAILURES = 8
"""Proofs that fail before a block's other rows are left as they are."""

Combination = tuple[tuple[int, float], ...]
"""Rows and their weights, which sum to 0."""


def within_ties(
    blocks: Blocks,
    reduced: Market,
    rows: tuple[sparse.csr_array, sparse.csr_array],
    equal: Mask,
    limits: Floats,
    quotients: Indices,
) -> Blocks:
    """Return the blocks without prices that ties leave no use for.

    Parameters
    ----------
    blocks
        Rows that share posted prices.
    reduced
        n′ rows.
    rows, equal, limits, quotients
        A and S of the linear rows, shape (k, n′); which are equations; their limits; and numbers
        of rows whose coefficients are rounded quotients.
    """
    rounded = np.isin(np.arange(equal.size), quotients)
    floor, failed = blocks.floor.copy(), np.zeros(blocks.count, dtype=np.intp)
    for g, combination in (*_of_bounds(blocks, rows, equal, limits), *_of_rows(blocks, rows, equal, limits, rounded)):
        top = max(float(reduced.high[row]) for row, _ in combination)
        if blocks.lists[g] is None and floor[g] < top < np.inf and failed[g] < _FAILURES:
            if _leaves_nothing_between(reduced, blocks, g, combination):
                floor[g] = top
            else:
                failed[g] += 1
    return dataclasses.replace(blocks, floor=floor)


def _of_bounds(
    blocks: Blocks, rows: tuple[sparse.csr_array, sparse.csr_array], equal: Mask, limits: Floats
) -> Iterator[tuple[int, Combination]]:
    """Return pairs of a block of which one may sell no more often than the other must."""
    of_acceptance, of_spend = rows
    alone = np.flatnonzero((np.diff(of_acceptance.indptr) == 1) & (np.diff(of_spend.indptr) == 0))
    at, a = (each[of_acceptance.indptr[alone]] for each in (of_acceptance.indices, of_acceptance.data))
    kept = (blocks.of_row[at] >= 0) & (a != 0)
    alone, at, a = alone[kept], at[kept], a[kept]
    bound = np.column_stack([blocks.of_row[at].astype(np.float64), limits[alone] / a])
    kind = np.unique(bound, axis=0, return_inverse=True)[1].ravel()
    at_most, at_least = ((sign * a > 0) | equal[alone] for sign in (1.0, -1.0))
    several = np.flatnonzero(np.bincount(kind) > 1) if kind.size else kind
    for one in several[np.isin(several, kind[at_most]) & np.isin(several, kind[at_least])].tolist():
        same = np.flatnonzero(kind == one)
        for i, j in product(same[at_most[same]][:_FEW].tolist(), same[at_least[same]][:_FEW].tolist()):
            most, least = (Fraction(limits[alone[k]]) / Fraction(a[k]) for k in (i, j))
            if at[i] != at[j] and most <= least:  # quotients may be alike by rounding alone
                yield int(blocks.of_row[at[i]]), ((int(at[i]), 1.0), (int(at[j]), -1.0))


def _of_rows(
    blocks: Blocks, rows: tuple[sparse.csr_array, sparse.csr_array], equal: Mask, limits: Floats, rounded: Mask
) -> Iterator[tuple[int, Combination]]:
    """Return rows of one block whose coefficients sum to 0, as their limit is.

    Rounded quotients do so nearly; numbers that somebody stated have to do it themselves: what
    they leave over may be worth much where one law is hardly above the other.
    """
    for matrix, other in (rows, rows[::-1]):
        sums, sizes = matrix.sum(axis=1), abs(matrix).sum(axis=1)
        balanced = (np.diff(other.indptr) == 0) & (limits == 0) & (sizes > 0) & (np.abs(sums) <= _ROUNDING * sizes)
        for k in np.flatnonzero(balanced).tolist():
            at, a = (each[matrix.indptr[k] : matrix.indptr[k + 1]] for each in (matrix.indices, matrix.data))
            group = np.unique(blocks.of_row[at])
            if group.size == 1 and group[0] >= 0 and (rounded[k] or math.fsum(a) == 0):
                for sign in (1.0, -1.0) if equal[k] else (1.0,):
                    yield int(group[0]), tuple(zip(at.tolist(), (sign * a).tolist(), strict=True))


def _leaves_nothing_between(reduced: Market, blocks: Blocks, group: int, combination: Combination) -> bool:
    """Return whether Σ w F > 0 at all prices at which somebody sells, but the highest."""
    rows, weights = np.array([row for row, _ in combination]), np.array([w for _, w in combination])
    low, high = float(reduced.low[rows].min()), float(reduced.high[rows].max())
    members = np.flatnonzero(blocks.of_row == group)
    lows = reduced.low[members]
    if np.any(lows < low) or np.any(reduced.valuation.take(members[lows == low]).cdf(lows[lows == low]) > 0):
        return False
    price = np.linspace(low, high, _POINTS)[1:-1]
    of_price = np.zeros(price.size)
    for row, w in combination:
        law, ends = reduced.valuation.take(np.full(price.size, row)), (reduced.low[row], reduced.high[row])
        F = law.cdf(np.clip(price, *ends))
        of_price += w * np.where(price < ends[0], 0.0, np.where(price >= ends[1], 1.0, F))
    if not np.all(of_price > _ROUNDING * float(np.sum(np.abs(weights)))):
        return False
    from smqopt.market.statement._positive_sums import is_positive  # noqa: PLC0415 -- loads SymPy

    return is_positive(reduced, combination, low, high)
