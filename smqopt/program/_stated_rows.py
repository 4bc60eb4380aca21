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
from smqopt.numeric import Floats
from smqopt.program.cones._cone_registry import cone_forms
from smqopt.program.cones._form import pick
from smqopt.program.cones._pieces import Pieces
from smqopt.program.scaling._normalised import ScaledRow
from smqopt.valuation import Valuation


def cost_links(
    valuation: Valuation, acceptance: cp.Variable, spend: cp.Variable, unitless_spend: cp.Variable, currency: Floats
) -> tuple[list[tuple[cp.Constraint, str]], dict[int, ScaledRow], list[Pieces]]:
    """State the links of n owners; spend = currency · unitless_spend, shape (n,) each.

    Returns
    -------
    named, rows, pieces
        All constraints, each with its words; the id of a link → its row; straight pieces where no
        exact form is known.
    """
    named: list[tuple[cp.Constraint, str]] = []
    rows: dict[int, ScaledRow] = {}
    pieces: list[Pieces] = []
    for law, index in valuation.parts():
        of_law = np.arange(acceptance.size)[index]
        for form in cone_forms(law, pick(acceptance, of_law), currency[of_law]):
            owners = of_law[form.owners]
            unit = currency[owners]
            link = cp.multiply(unit, form.cost) <= pick(spend, owners)
            rows[id(link)] = ScaledRow(form.cost <= pick(unitless_spend, owners), unit)
            if form.pieces is not None:
                pieces.append(form.pieces)
                rows[id(form.pieces.constraint)] = ScaledRow(form.pieces.constraint, 1.0)
            words = f"C(q) <= b for {owners.size} owners ({law.name})"
            named.extend([(link, words), *((constraint, words) for constraint in form.side)])
    return named, rows, pieces


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
