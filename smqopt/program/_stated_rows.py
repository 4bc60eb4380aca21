"""What a program states in cvxpy, in the user's units.

The links C(q) ≤ b between acceptance and spend, law by law, and constraint records: the rows,
bounds and common prices of a statement.
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np
from scipy import sparse

from smqopt.market import Statement
from smqopt.program.cones._cone_registry import cone_forms
from smqopt.program.cones._form import pick
from smqopt.program.scaling._scaling import Scaling
from smqopt.valuation import Valuation


def cost_links(valuation: Valuation, scaling: Scaling) -> Iterator[tuple[cp.Constraint, str]]:
    """State the links of n owners, each constraint with its words.

    Leaves in `scaling` how the solver sees them, and straight pieces where no exact form is known.
    """
    q, b, unitless, currency = scaling.acceptance, scaling.spend, scaling.unitless_spend, scaling.currency
    for law, index in valuation.parts():
        of_law = np.arange(q.size)[index]
        for form in cone_forms(law, pick(q, of_law), currency[of_law]):
            owners = of_law[form.owners]
            unit = currency[owners]
            link = cp.multiply(unit, form.cost) <= pick(b, owners)
            scaling.rows[id(link)] = form.cost <= pick(unitless, owners), unit
            if form.pieces is not None:
                scaling.pieces.append(form.pieces)
                scaling.rows[id(form.pieces.constraint)] = form.pieces.constraint, 1.0
            words = f"C(q) <= b for {owners.size} owners ({law.name})"
            yield from ((constraint, words) for constraint in (link, *form.side))


def record_rows(
    statement: Statement, acceptance: cp.Variable, spend: cp.Variable
) -> Iterator[tuple[int, cp.Constraint]]:
    """State the records in acceptance and spend: linear rows first, in their order.

    Then bounds; then common prices. Each with the number of its record, from 0.
    """
    A, S = statement.owner_rows()
    count = A.shape[0]  # bounds of rows in blocks follow
    rows = statement.record_of_row[:count], statement.at_most[:count].tolist(), statement.equal[:count].tolist()
    for number, (record, limit, equal) in enumerate(zip(*rows, strict=True)):
        used = _total(A[[number]], acceptance, S[[number]], spend)
        yield record, used == limit if equal else used <= limit
    yield from _bounds(statement, acceptance)
    yield from _sure_prices(statement, spend)
    yield from _common_prices(statement, acceptance)


def _total(a: sparse.csr_array, q: cp.Variable, s: sparse.csr_array, b: cp.Variable) -> cp.Expression:
    """Return a q + s b with the entries that are not 0 alone, a scalar."""
    terms = [cp.sum(cp.multiply(part.data, x[part.indices])) for part, x in ((a, q), (s, b)) if part.nnz]
    return sum(terms[1:], start=terms[0]) if terms else cp.Constant(0.0) * q[0]


def _sure_prices(statement: Statement, spend: cp.Variable) -> Iterator[tuple[int, cp.Constraint]]:
    """State what is paid to whoever sells for sure.

    Where C is infinitely steep no tangent tells.
    """
    every, set_by = statement.expand(statement.lowest), statement.expand(statement.lowest_by)
    high = statement.listed.high
    for record in np.unique(set_by[every >= 1]).tolist():
        owners = np.flatnonzero((set_by == record) & (every >= 1))
        yield record, cp.multiply(1.0 / high[owners], spend[owners]) >= 1.0


def _bounds(statement: Statement, acceptance: cp.Variable) -> Iterator[tuple[int, cp.Constraint]]:
    for bound, by, none in (
        (statement.lowest, statement.lowest_by, 0.0),
        (statement.highest, statement.highest_by, 1.0),
    ):
        every, set_by = statement.expand(bound), statement.expand(by)
        for record in np.unique(set_by[every != none]).tolist():
            owners = np.flatnonzero(set_by == record)
            q = acceptance[owners]
            yield record, q >= every[owners] if none == 0.0 else q <= every[owners]


def _common_prices(statement: Statement, acceptance: cp.Variable) -> Iterator[tuple[int, cp.Constraint]]:
    """Say that owners who share a price accept alike: they have one law."""
    shared = statement.row_of_owner
    if shared is None:
        return
    first = np.unique(shared, return_index=True)[1][shared]
    others = np.flatnonzero(first != np.arange(shared.size))
    if others.size:
        records = statement.records
        record = next(k for k, one in enumerate(records) if one.common_prices(statement.market) is not None)
        yield record, acceptance[others] == acceptance[first[others]]
