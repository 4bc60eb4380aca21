"""Rows of many that are alike, as one.

Where acceptances jump they would all be tied.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from smqopt.market import Linear, Market, Objective, Statement
from smqopt.numeric import Floats, Indices

_MANY = 1 << 12
"""Rows from which it is looked for alike ones, first in a sample of so many."""
_PART = 1 << 9
"""One in so many rows of a sample is to have others like it."""


def merge_alike(statement: Statement, objective: Objective) -> Statement:
    """Return a statement with rows that are alike as one, where some of many are.

    In law, worth, count, bounds, and coefficients. Any offers to its rows are offers to all owners.
    """
    n, utility = statement.reduced.n, statement.utility(objective)
    if n <= _MANY or statement.blocks is not None or not isinstance(utility, Linear):
        return statement
    some = np.arange(0, n, n // _MANY)
    if _numbers(statement, utility, some)[1].size > some.size - some.size // _PART:
        return statement
    kind, first = _numbers(statement, utility, np.arange(n))
    if not _agree(statement, kind, first):
        return statement
    together = sparse.csc_array((np.ones(n), (np.arange(n), kind)), shape=(n, first.size))
    reduced = statement.reduced
    counts = np.bincount(kind, weights=statement.weights()).astype(np.int64)
    market = Market(reduced.epsilon[first], reduced.valuation.take(first), multiplicity=counts)
    of_rows = {name: getattr(statement, name)[first] for name in ("lowest", "highest", "lowest_by", "highest_by")}
    return dataclasses.replace(
        statement,
        reduced=market,
        row_of_owner=kind if statement.row_of_owner is None else kind[statement.row_of_owner],
        acceptance=sparse.csr_array(statement.acceptance @ together),
        spend=sparse.csr_array(statement.spend @ together),
        **of_rows,
    )


def _numbers(statement: Statement, utility: Linear, rows: Indices) -> tuple[Indices, Indices]:
    """Number the kinds of some rows; return the numbers, and the first row of each."""
    kind = np.zeros(rows.size, dtype=np.intp)
    for column in _columns(statement, utility, rows):
        if np.any(column != column[0]):
            values, place = np.unique(column, return_inverse=True)
            kind = np.unique(kind * values.size + place.ravel(), return_inverse=True)[1].ravel().astype(np.intp)
    return kind, rows[np.unique(kind, return_index=True)[1]]


def _columns(statement: Statement, utility: Linear, rows: Indices) -> Iterator[Floats]:
    """Yield numbers in which alike rows agree."""
    law = np.arange(statement.reduced.n, dtype=np.float64)
    for k, (part, index) in enumerate(statement.reduced.valuation.parts()):
        law[index] = -1.0 - k if part.size is None else law[index]
    yield law[rows]
    for column in (utility.each, statement.weights(), statement.lowest, statement.highest):
        yield np.broadcast_to(column, law.shape)[rows]
    for coefficients in (statement.acceptance, statement.spend):
        yield np.asarray(coefficients[:, rows].T @ np.random.default_rng(0).random(coefficients.shape[0]))


def _agree(statement: Statement, kind: Indices, first: Indices) -> bool:
    """Tell whether all rows of a kind have its coefficients.

    A sum does not tell them apart for sure.
    """
    every = (statement.acceptance, statement.spend)
    return all(abs(one - one[:, first][:, kind]).max() == 0 if one.nnz else True for one in every)
