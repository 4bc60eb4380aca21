"""What offers break rows by."""

from __future__ import annotations

import numpy as np

from smqopt.market import Offers, Statement
from smqopt.numeric import Floats


def row_excess(statement: Statement, offers: Offers) -> tuple[Floats, Floats]:
    """Return what offers break rows by; that, and its share of their terms."""
    first = statement.first_owner
    q, spend = offers.acceptance[first], offers.spend[first]
    over = statement.usage(q, spend) - statement.at_most
    terms = abs(statement.acceptance) @ q + abs(statement.spend) @ spend + np.abs(statement.at_most)
    over = np.where(statement.equal, np.abs(over), over)
    over[[statement.records[k].read_from_prices for k in statement.record_of_row]] = 0.0
    return over, over / np.maximum(terms, np.finfo(float).tiny)
