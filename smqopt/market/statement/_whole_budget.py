"""What a budget leaves where constraints ask for all of it.

A row that asks for as much spend on some owners as there is money leaves the others none, and so do
owners who must sell for sure, if their prices come to the budget; the same holds of a group's. No
multiplier of the budget may be large enough to tell that, as at a budget of 0. It is judged
exactly, so that it holds of all offers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Row
from smqopt.market.statement._state import state, without_money
from smqopt.market.statement._statement import Statement
from smqopt.numeric import Floats, Indices, Mask, exact_dot

_NEAR = 1.0 - 2.0**-40
"""Amounts below so much of the budget need not be added exactly."""
_WORK = 1 << 24
"""Owners of limits and of rows that ask for spend that are compared, the budget first."""
_MOST = 2.0**20
"""A price of the budget is no higher, in units of what the owners without money are worth."""


@dataclass(frozen=True, eq=False)
class _Limit:
    """Σ t b ≤ R: the budget's, or a row's."""

    counts: Floats
    """t ≥ 0, shape (n,); the multiplicities for the budget."""
    most: float


@dataclass(frozen=True, eq=False)
class _Demand:
    """Owners on whom all of a limit is to be spent."""

    owners: Indices
    row: int = -1
    """The linear row that asks for it; −1 where they must sell for sure."""
    sign: float = 1.0
    share: float = 1.0
    """What the row counts of the money that the limit counts."""


def at_budget(statement: Statement, budget: float) -> Statement:
    """Return the statement without payments to those for whom no money is left."""
    if budget == 0:
        return without_money(statement)
    market, rows = statement.market, _rows(statement)
    asked, sold = _requests(statement, rows)
    few = max(_WORK // ((1 + len(asked)) * market.n), 1) if asked or sold.any() else 0
    limits = itertools.chain([_Limit(market.weights, budget)], _limits_of(rows, market.n))
    unpaid, surely = np.zeros((2, market.n), dtype=np.bool_)
    for limit in itertools.islice(limits, few):
        for demand in _demands(market, asked, sold, limit):
            others = limit.counts > 0
            others[demand.owners] = False
            unpaid |= others
            surely[demand.owners] |= demand.row < 0
    surely &= ~_in_blocks(statement)  # their bounds would be rows
    known = statement.expand(statement.fixed.unpaid | statement.fixed.unsold)
    if not np.any(unpaid & ~known):
        return statement
    return state(market, statement.records, known=(unpaid, surely))


def priced_budget(statement: Statement, budget: float, z: Floats, slope: Floats) -> Floats:
    """Return multipliers with a price of a budget that is asked for as a whole.

    That of the row that asks for it rises with it, so that the bound stays as it is. The price is
    what the owners without money would sell first for, where that is a number.

    Parameters
    ----------
    statement
        As it is without the budget.
    budget
        B, in currency.
    z
        Multipliers, the budget's first.
    slope
        What the first acceptance of each owner is worth; shape (n′,).
    """
    rows, stated = _rows(statement), at_budget(statement, budget)
    slope = slope - (statement.acceptance[: len(rows)].T @ z[1 : 1 + len(rows)]) / statement.weights()
    left = np.flatnonzero(stated.fixed.unpaid & ~statement.fixed.unpaid & (slope > 0) & np.isfinite(slope))
    limit = _Limit(statement.market.weights, budget)
    demand = next(_demands(statement.market, *_requests(statement, rows), limit), None)
    if demand is None or not left.size or (demand.row < 0 and np.any(_in_blocks(statement)[demand.owners])):
        return z
    low, most = statement.reduced.low[left], exact_dot(slope[left], statement.weights()[left]) / budget
    first = float(np.max(slope[left] / low)) if np.all(low * most * _MOST > slope[left]) else most
    more = max(first - float(z[0]), 0.0)
    z = z.copy()
    z[0] += more
    if demand.row >= 0:
        z[1 + demand.row] += demand.sign * more / demand.share
    return z


def _in_blocks(statement: Statement) -> Mask:
    """Say which owners are; shape (n,)."""
    blocks, n = statement.blocks, statement.reduced.n
    return np.asarray(statement.expand(np.zeros(n, dtype=np.bool_) if blocks is None else blocks.of_row >= 0))


def _rows(statement: Statement) -> list[Row]:
    return [row for record in statement.records for row in record.rows(statement.market)]


def _limits_of(rows: Sequence[Row], n: int) -> Iterator[_Limit]:
    """Return the rows that limit the spend on some owners."""
    for row in rows:
        owners, t = row.spend
        signs = (1.0, -1.0) if row.equal else (1.0,)
        for sign in signs if owners.size and not row.rounded else ():
            if sign * row.at_most > 0 and np.all(sign * t >= 0) and np.all(sign * row.acceptance[1] >= 0):
                yield _Limit(np.bincount(owners, weights=sign * t, minlength=n).astype(np.float64), sign * row.at_most)


def _requests(statement: Statement, rows: Sequence[Row]) -> tuple[list[tuple[int, Row]], Mask]:
    """Return numbered rows that ask for spend, and who must sell for sure."""
    surely = statement.expand(statement.fixed.surely | (statement.lowest >= 1))
    for row in rows:
        if row.sells_surely is not None:
            surely[row.sells_surely] = True
    return [(number, row) for number, row in enumerate(rows) if row.raised.size and not row.rounded], surely


def _demands(market: Market, asked: Sequence[tuple[int, Row]], sold: Mask, limit: _Limit) -> Iterator[_Demand]:
    """Find what asks for all of a limit."""
    t, R = limit.counts, Fraction(limit.most)
    for number, row in asked:
        for sign, share in _asked_of(row, limit):
            most = max(share.values())
            if Fraction(abs(row.at_most)) >= R * most:
                owners = [owner for owner, s in share.items() if s == most]
                yield _Demand(np.array(owners, dtype=np.intp), number, sign, float(most))
    surely = sold & (t > 0)
    price = np.where(surely, market.high, 0.0)
    if surely.any() and float(t @ price) >= _NEAR * limit.most:
        pairs = zip(t[surely].tolist(), price[surely].tolist(), strict=True)
        if sum((Fraction(count) * Fraction(each) for count, each in pairs), Fraction(0)) >= R:
            yield _Demand(np.flatnonzero(surely))


def _asked_of(row: Row, limit: _Limit) -> Iterator[tuple[float, dict[int, Fraction]]]:
    """Return the shares s/t of owners in a row that asks for spend on them.

    Where it may be all: Σ |s| b ≥ |r| needs |r| / max (|s|/t) of the limit at least.
    """
    owners, s = row.spend
    for sign in (1.0, -1.0) if row.equal else (1.0,):
        asks: Mask = sign * s < 0
        if not asks.any() or sign * row.at_most >= 0 or np.any(sign * row.acceptance[1] < 0):
            continue
        t = limit.counts[owners[asks]]
        if np.all(t > 0) and abs(row.at_most) >= _NEAR * limit.most * float(np.max(np.abs(s[asks]) / t)):
            share = dict.fromkeys(owners[asks].tolist(), Fraction(0))
            for owner, each in zip(owners[asks].tolist(), s[asks].tolist(), strict=True):
                share[owner] += Fraction(abs(each)) / Fraction(float(limit.counts[owner]))
            yield sign, share
