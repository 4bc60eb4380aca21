"""What a budget leaves where constraints ask for all of it.

A row that asks for as much spend on some owners as there is money leaves the others none, and so do
owners who must sell for sure, if their prices come to the budget. No multiplier of the budget may
be large enough to tell that, as at a budget of 0. It is judged exactly, so that it holds of all
offers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from smqopt.market.constraints._constraint_record import Row
from smqopt.market.statement._state import state, without_money
from smqopt.market.statement._statement import Statement
from smqopt.numeric import Floats, Indices, Mask, exact_dot

_NEAR = 1.0 - 2.0**-40
"""Amounts below so much of the budget need not be added exactly."""
_MOST = 2.0**20
"""A price of the budget is no higher, in units of what the owners without money are worth."""


@dataclass(frozen=True, eq=False)
class _Demand:
    """Owners on whom the whole budget is to be spent."""

    owners: Indices
    row: int = -1
    """The linear row that asks for it; −1 where they must sell for sure."""
    sign: float = 1.0
    share: float = 1.0
    """What the row counts of the money that is paid to them."""


def at_budget(statement: Statement, budget: float) -> Statement:
    """Return the statement without payments to those for whom no money is left."""
    if budget == 0:
        return without_money(statement)
    unpaid, surely = np.zeros((2, statement.market.n), dtype=np.bool_)
    for demand in _demands(statement, budget):
        others = np.ones(unpaid.size, dtype=np.bool_)
        others[demand.owners] = False
        unpaid |= others
        surely[demand.owners] |= demand.row < 0
    known = statement.expand(statement.fixed.unpaid | statement.fixed.unsold)
    if not np.any(unpaid & ~known):
        return statement
    return state(statement.market, statement.records, known=(unpaid, surely))


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
    stated, slope = at_budget(statement, budget), slope - statement.charge(0.0, z[1:])[0]
    left = np.flatnonzero(stated.fixed.unpaid & ~statement.fixed.unpaid & (slope > 0) & np.isfinite(slope))
    demand = next(_demands(statement, budget), None)
    if demand is None or not left.size:
        return z
    low, most = statement.reduced.low[left], exact_dot(slope[left], statement.weights()[left]) / budget
    first = float(np.max(slope[left] / low)) if np.all(low * most * _MOST > slope[left]) else most
    more = max(first - float(z[0]), 0.0)
    z = z.copy()
    z[0] += more
    if demand.row >= 0:
        z[1 + demand.row] += demand.sign * more / demand.share
    return z


def _demands(statement: Statement, budget: float) -> Iterator[_Demand]:
    """Find what asks for all the money."""
    market, m, B, number = statement.market, statement.market.weights, Fraction(budget), -1
    sold = [np.zeros(0, dtype=np.intp)]
    for record in statement.records:
        for row in record.rows(market):
            number += 1
            for sign, share in _asked_of(row, m, budget):
                most = max(share.values())
                if Fraction(abs(row.at_most)) >= B * most:
                    owners = [owner for owner, s in share.items() if s == most]
                    yield _Demand(np.array(owners, dtype=np.intp), number, sign, float(most))
            sold.append(np.zeros(0, dtype=np.intp) if row.sells_surely is None else row.sells_surely)
    surely = statement.expand(statement.fixed.surely | (statement.lowest >= 1))
    surely[np.concatenate(sold)] = True
    price = np.where(surely, market.high, 0.0)
    if surely.any() and float(m @ price) >= _NEAR * budget:
        pairs = zip(m[surely].tolist(), price[surely].tolist(), strict=True)
        if sum((Fraction(count) * Fraction(each) for count, each in pairs), Fraction(0)) >= B:
            yield _Demand(np.flatnonzero(surely))


def _asked_of(row: Row, m: Floats, budget: float) -> Iterator[tuple[float, dict[int, Fraction]]]:
    """Return the shares s/m of owners in a row that asks for spend on them.

    Where it may be all: Σ |s| b ≥ |r| needs |r| / max (|s|/m) of the budget at least.
    """
    owners, s = row.spend
    for sign in (1.0, -1.0) if row.equal else (1.0,):
        asks: Mask = sign * s < 0
        if row.rounded or not asks.any() or sign * row.at_most >= 0 or np.any(sign * row.acceptance[1] < 0):
            continue
        if abs(row.at_most) >= _NEAR * budget * float(np.max(np.abs(s[asks]) / m[owners[asks]])):
            share = dict.fromkeys(owners[asks].tolist(), Fraction(0))
            for owner, each in zip(owners[asks].tolist(), s[asks].tolist(), strict=True):
                share[owner] += Fraction(abs(each)) / Fraction(float(m[owner]))
            yield sign, share
