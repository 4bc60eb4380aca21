"""Constraint records in the form that is solved and verified.

Pooled groups, or a statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.market.pooling._pooled import Pooled, pool
from smqopt.market.statement._statement import Statement, state

Stated = Pooled | Statement


def state_or_pool(market: Market, records: Sequence[ConstraintRecord]) -> Stated | None:
    """Bring records to one form.

    Pooled groups where owners of different laws share a price, else a statement; None where there
    are no records.

    Raises
    ------
    InputError
        If a record does not fit the market, or does not go with the others.
    """
    if not records:
        return None
    return pool(market, records) or state(market, records)
