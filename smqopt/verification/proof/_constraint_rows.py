"""Linear constraint rows in balls: what they charge, and how they are kept.

The numbers that a record names are taken as exact. Coefficients that are quotients of them,
rounded, are balls that hold the quotient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from smqopt.market import Row, Statement
from smqopt.numeric import SIDE_ROW, Ball, rounded_down, rounded_up

HALF_SPACING = 2.0**-53
"""A quotient rounded to nearest is off by no more, relative to it."""


@dataclass(frozen=True)
class KeptRow:
    """How well offers keep one linear row."""

    constraint: str
    """In words."""
    over: tuple[float, float]
    """Two doubles that enclose what it is broken by, A q + S b − r, or the size of that for an
    equation; relative to the sum of absolute terms."""
    kept: bool | None
    """Whether it is broken by no more than the recorded tolerance: proved, refuted, or not decided.
    """
    exactly: bool
    """Whether it is proved not to be broken at all."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as data."""
        return {"constraint": self.constraint, "over": list(self.over), "exactly": self.exactly}


def linear_rows(statement: Statement) -> list[Row]:
    """Return the linear rows over owners, in the order of multipliers."""
    rows = [row for record in statement.records for row in record.rows(statement.market)]
    rigid = statement.rigid[: len(rows)].tolist()
    return [row.without_terms() if fixed else row for row, fixed in zip(rows, rigid, strict=True)]


def rows_of_bounds(statement: Statement, stated: int) -> list[Row]:
    """Return the bounds of acceptance that are rows beyond those stated.

    They are of who shares a price. All owners of a row get the same offer, so that the first stands
    for them.
    """
    found = []
    for k in range(stated, len(statement.names)):
        entries = statement.acceptance[[k]].tocoo()
        of = statement.first_owner[entries.col], entries.data
        found.append(
            Row(statement.names[k], float(statement.at_most[k]), acceptance=of, equal=bool(statement.equal[k]))
        )
    return found


def charges(rows: Sequence[Row], multipliers: Sequence[float], n: int) -> tuple[list[Ball], list[Ball]]:
    """Return Σ_j y_j a_ji and Σ_j y_j s_ji of each owner i."""
    utility, price = [arb(0)] * n, [arb(0)] * n
    for row, y in zip(rows, multipliers, strict=True):
        if y != 0:
            for total, (owners, values) in ((utility, row.acceptance), (price, row.spend)):
                for owner, coefficient in _coefficients(row, owners, values):
                    total[owner] += arb(y) * coefficient
    return utility, price


def kept_rows(rows: Sequence[Row], acceptance: Mapping[int, Ball], spend: Mapping[int, Ball]) -> Iterator[KeptRow]:
    """Return how well offers keep each row.

    Parameters
    ----------
    rows
        k rows over n owners.
    acceptance, spend
        q and b of each owner.
    """
    for row in rows:
        yield kept_row(row, *_left_side(row, acceptance, spend))


def kept_row(row: Row, used: Ball, size: Ball) -> KeptRow:
    """Say how well a row is kept, from A q + S b − r and its absolute terms."""
    over = abs(used) if row.equal else used
    kept = True if over <= SIDE_ROW.value * size else False if over > SIDE_ROW.value * size else None
    share = over / size if size > 0 else arb(0) if over == 0 else arb("nan")
    return KeptRow(row.name, (rounded_down(share), rounded_up(share)), kept, exactly=bool(over <= 0))


def charge_of_excess(
    rows: Sequence[Row], multipliers: Sequence[float], acceptance: Mapping[int, Ball], spend: Mapping[int, Ball]
) -> Ball:
    """Return Σ_j max(y_j (A_j q + S_j b − r_j), 0)."""
    total = arb(0)
    for row, y in zip(rows, multipliers, strict=True):
        if y != 0:
            total += (arb(y) * _left_side(row, acceptance, spend)[0]).max(arb(0))
    return total


def _left_side(row: Row, acceptance: Mapping[int, Ball], spend: Mapping[int, Ball]) -> tuple[Ball, Ball]:
    """Return A q + S b − r, and the sum of its absolute terms."""
    used, size = -arb(row.at_most), arb(abs(row.at_most))
    for amounts, (owners, values) in ((acceptance, row.acceptance), (spend, row.spend)):
        for owner, coefficient in _coefficients(row, owners, values):
            term = coefficient * amounts[owner]
            used, size = used + term, size + abs(term)
    return used, size


def _coefficients(row: Row, owners: Any, values: Any) -> Iterator[tuple[int, Ball]]:
    for owner, value in zip(owners.tolist(), values.tolist(), strict=True):
        yield owner, arb(value, abs(value) * HALF_SPACING) if row.rounded else arb(value)
