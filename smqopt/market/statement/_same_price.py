"""Indices who must get one price, as one row of a smaller market."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.numeric import Floats, Indices
from smqopt.valuation import Valuation


def same_price_rows(market: Market, records: Sequence[ConstraintRecord]) -> Indices | None:
    """Number the owners by the price they share, in order of appearance, shape (n,).

    None where no record says so.

    Two records together join what either joins: owners who share a price with a third share it with
    each other.
    """
    every = [groups for record in records if (groups := record.common_prices(market)) is not None]
    if not every:
        return None
    joined = every[0]
    for groups in every[1:]:
        left, right = int(joined.max()) + 1, int(groups.max()) + 1
        links = sparse.coo_array((np.ones(market.n), (joined, left + groups)), shape=(left + right, left + right))
        joined = csgraph.connected_components(links, directed=False)[1][joined].astype(np.intp)
    _, first, number = np.unique(joined, return_index=True, return_inverse=True)
    order = np.empty(first.size, dtype=np.intp)
    order[np.argsort(first)] = np.arange(first.size)
    return order[number]


def one_row_a_group(market: Market, row_of_owner: Indices) -> Market:
    """Return the market with one row for each group.

    Each with the law of its first owner. Multiplicities add up, requirements are averaged: with one
    price θ and one law the owners of a row accept alike, so that Σ m_i ε_i F(θ) = (Σ m_i) ε̄ F(θ).
    """
    m, first = market.weights, np.unique(row_of_owner, return_index=True)[1]
    total = np.bincount(row_of_owner, weights=m)
    epsilon = np.bincount(row_of_owner, weights=m * market.epsilon) / total
    return Market(epsilon, market.valuation.take(first), multiplicity=total)


def law_numbers(law: Valuation, n: int) -> Indices:
    """Number the laws of owners so that one number is one law; shape (n,)."""
    number, found = np.empty(n, dtype=np.intp), 0
    for part, owners in law.parts():
        rows = np.arange(n, dtype=np.intp)[owners]
        columns = _columns(part)
        if part.size is None:
            number[rows] = found
        elif not columns:
            number[rows] = found + np.arange(rows.size)
        else:
            order = np.lexsort(columns)
            differs = np.logical_or.reduce([np.diff(column[order]) != 0 for column in columns])
            number[rows[order]] = found + np.concatenate([[0], np.cumsum(differs)])
        found += rows.size
    return number


def _columns(part: Valuation) -> list[Floats]:
    """Return the parameters that differ by owner."""
    return [np.asarray(value) for value in part.arguments.values() if np.ndim(value) > 0]
