"""Constraint records in cvxpy.

The rows, bounds and common prices of a statement, each in the user's units and in the solver's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from scipy import sparse

from smqopt.market import Statement
from smqopt.numeric import Floats
from smqopt.program.scaling._normalised import ScaledRow


@dataclass(frozen=True)
class Stated:
    """A constraint that states a record, or a part of it."""

    record: int
    """Which record, from 0."""
    constraint: cp.Constraint
    row: ScaledRow


def record_rows(
    statement: Statement, acceptance: cp.Variable, spend: cp.Variable, unitless_spend: cp.Variable, currency: Floats
) -> Iterator[Stated]:
    """State the records in acceptance and spend: linear rows first, in their order.

    Then bounds; then common prices.

    Parameters
    ----------
    statement
        The market and its records.
    acceptance, spend
        The program's variables, shape (n,) each.
    unitless_spend, currency
        spend = currency · unitless_spend, shape (n,) each.
    """
    A, S = statement.owner_rows()
    count = A.shape[0]  # bounds of rows in blocks follow
    rows = statement.record_of_row[:count], statement.at_most[:count].tolist(), statement.equal[:count].tolist()
    for number, (record, limit, equal) in enumerate(zip(*rows, strict=True)):
        a, s = A[[number]], S[[number]]
        of_unit = (s * currency[np.newaxis, :]).tocsr()
        size = max(float(abs(a).sum()), float(of_unit.sum()), abs(limit), np.finfo(float).tiny)
        unit = float(np.ldexp(1.0, np.frexp(size)[1]))
        used = _total(a, acceptance, s, spend)
        seen = _total(sparse.csr_array(a / unit), acceptance, sparse.csr_array(of_unit / unit), unitless_spend)
        pair = (used == limit, seen == limit / unit) if equal else (used <= limit, seen <= limit / unit)
        yield Stated(record, pair[0], ScaledRow(pair[1], unit))
    yield from _bounds(statement, acceptance)
    yield from _sure_prices(statement, spend, unitless_spend, currency)
    yield from _common_prices(statement, acceptance)


def _total(a: sparse.csr_array, q: cp.Variable, s: sparse.csr_array, b: cp.Variable) -> cp.Expression:
    """Return a q + s b with the entries that are not 0 alone, a scalar."""
    terms = [cp.sum(cp.multiply(part.data, x[part.indices])) for part, x in ((a, q), (s, b)) if part.nnz]
    return sum(terms[1:], start=terms[0]) if terms else cp.Constant(0.0) * q[0]


def _sure_prices(
    statement: Statement, spend: cp.Variable, unitless_spend: cp.Variable, currency: Floats
) -> Iterator[Stated]:
    """State what is paid to whoever sells for sure.

    Where C is infinitely steep no tangent tells.
    """
    every, set_by = statement.expand(statement.lowest), statement.expand(statement.lowest_by)
    high = statement.listed.high
    for record in np.unique(set_by[every >= 1]).tolist():
        owners = np.flatnonzero((set_by == record) & (every >= 1))
        row = unitless_spend[owners] >= high[owners] / currency[owners]
        yield Stated(record, spend[owners] >= high[owners], ScaledRow(row, currency[owners]))


def _bounds(statement: Statement, acceptance: cp.Variable) -> Iterator[Stated]:
    for bound, by, none in (
        (statement.lowest, statement.lowest_by, 0.0),
        (statement.highest, statement.highest_by, 1.0),
    ):
        every, set_by = statement.expand(bound), statement.expand(by)
        for record in np.unique(set_by[every != none]).tolist():
            owners = np.flatnonzero(set_by == record)
            q = acceptance[owners]
            constraint = q >= every[owners] if none == 0.0 else q <= every[owners]
            yield Stated(record, constraint, ScaledRow(constraint, 1.0))


def _common_prices(statement: Statement, acceptance: cp.Variable) -> Iterator[Stated]:
    """Say that owners who share a price accept alike: they have one law."""
    shared = statement.row_of_owner
    if shared is None:
        return
    first = np.unique(shared, return_index=True)[1][shared]
    others = np.flatnonzero(first != np.arange(shared.size))
    if others.size:
        records = statement.records
        record = next(k for k, one in enumerate(records) if one.common_prices(statement.market) is not None)
        constraint = acceptance[others] == acceptance[first[others]]
        yield Stated(record, constraint, ScaledRow(constraint, 1.0))
