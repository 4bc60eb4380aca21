"""Owners who are alike in all that a proof looks at are enclosed once."""

from __future__ import annotations

import numpy as np

from smqopt.valuation.base import Valuation
from smqopt.verification.proof.totals import Rows

__all__ = ["together"]

LARGEST_COUNT = 2.0**52
"""Up to here counts add up without rounding."""


def together(law: Valuation, rows: Rows) -> Rows:
    """Join the rows of owners with the same law, requirement and offer; their counts add up.

    Parameters
    ----------
    law
        The law of all of them. Where it is one an owner, owners are alike whose parameters are, if the law keeps nothing else.
    rows
        One row an owner.
    """
    columns = [rows.epsilon, rows.threshold, rows.touch, rows.offered]
    if law.size is not None:
        given = [rows.place] if law._unnamed() else [getattr(law, name) for name in law.parameters]
        columns += [column for column in given if isinstance(column, np.ndarray)]
    if rows.count.sum() > LARGEST_COUNT:
        return rows
    order = np.lexsort(columns)
    new = np.zeros(order.size, dtype=np.bool_)
    new[:1] = True
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    first = np.flatnonzero(new)
    if first.size == order.size:
        return rows
    chosen = order[first]
    count = np.add.reduceat(rows.count[order], first)
    kept = (getattr(rows, name)[chosen] for name in ("threshold", "offered", "touch", "low", "high"))
    return Rows(rows.place[chosen], rows.epsilon[chosen], count, *kept)
