"""Indices who must get one price, as one row of a smaller market."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from smqopt.errors import InputError
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


def merged_market(market: Market, row_of_owner: Indices, records: Sequence[ConstraintRecord]) -> Market:
    """Return the market in which owners who share a price are one row.

    Multiplicities add up, requirements are averaged.

    With one price θ and one law the owners of a row accept alike, so that Σ m_i ε_i F(θ) = (Σ m_i)
    ε̄ F(θ).

    Raises
    ------
    InputError
        If owners who share a price have different laws.
    """
    first = np.unique(row_of_owner, return_index=True)[1]
    alike = has_law_of(market.valuation, first[row_of_owner], market.n)
    if not alike.all():
        other = int(np.flatnonzero(~alike)[0])
        names = market.owner_ids
        record = next(record for record in records if record.common_prices(market) is not None)
        raise InputError(
            f"constraint {record.kind!r}",
            "needs one law of valuations for all owners who share a price",
            value=f"owners {names[int(first[row_of_owner[other]])]!r} and {names[other]!r} with different laws",
            remedy="use smq.solve(market, budget, constraints=[...]), which pools them, split the group, or give its owners one law, say a Mixture",
        )
    return one_row_a_group(market, row_of_owner)


def one_row_a_group(market: Market, row_of_owner: Indices, chosen: Indices | None = None) -> Market:
    """Return the market with one row for each group, or for each of the chosen ones.

    Each with the law of its first owner.
    """
    m, first = market.weights, np.unique(row_of_owner, return_index=True)[1]
    total = np.bincount(row_of_owner, weights=m)
    epsilon = np.bincount(row_of_owner, weights=m * market.epsilon) / total
    rows = np.arange(first.size) if chosen is None else chosen
    return Market(epsilon[rows], market.valuation.take(first[rows]), multiplicity=total[rows])


def has_law_of(law: Valuation, other: Indices, n: int) -> NDArray[np.bool_]:
    """Say of each owner whether she has the law of another; shape (n,).

    A law that does not give its parameters is her own alone.
    """
    family, place = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    parts = list(law.parts())
    for number, (_, owners) in enumerate(parts):
        rows = np.arange(n, dtype=np.intp)[owners]
        family[rows], place[rows] = number, np.arange(rows.size)
    alike: NDArray[np.bool_] = family == family[other]
    for number, (part, _) in enumerate(parts):
        mine = np.flatnonzero(alike & (family == number))
        if part.size is None:
            continue
        here, there = place[mine], place[other[mine]]
        columns = _columns(part)
        same = here == there
        if columns:
            same = same | np.logical_and.reduce([column[here] == column[there] for column in columns])
        alike[mine] = same
    return alike


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
