"""What limits leave of single payments and acceptances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from smqopt.market._most_acceptance import most_acceptance
from smqopt.market.statement._statement import Statement
from smqopt.numeric import Floats, Mask


@dataclass(frozen=True, eq=False)
class Room:
    """How far each row of a statement can go."""

    spend: Floats
    """At most, in currency; shape (n′,)."""
    acceptance: Floats
    """At most, or little more; shape (n′,)."""
    takes: Mask
    """Which limits no row takes back from, the budget's first; shape (k + 1,)."""


def room_of(statement: Statement, budget: float) -> Room:
    """Return what the budget and the linear rows leave of payments and acceptances."""
    blocks, spend = statement.blocks, statement.reduced.high.copy()
    floor = np.zeros(spend.size)
    if blocks is not None and blocks.count:
        rows, of = blocks.rows, blocks.of_row[blocks.rows]
        spend[rows] = np.maximum(spend[rows], blocks.highest()[of])
        floor[rows] = np.array([nodes.min(initial=np.inf) for nodes in blocks.nodes])[of]
    spend, acceptance = np.minimum(spend, budget / statement.weights()), np.ones(spend.size)
    below = [each.minimum(0.0).sum(axis=1) < 0 for each in (statement.acceptance, statement.spend)]
    takes = ~np.append(False, np.logical_or(*below))
    for matrix, most in ((statement.spend, spend), (statement.acceptance, acceptance)):
        entry = sparse.coo_array(matrix)
        row, column = entry.coords
        at = np.flatnonzero((takes[1:] & (statement.at_most > 0))[row] & (entry.data > 0))
        np.minimum.at(most, column[at], statement.at_most[row[at]] / entry.data[at])
    acceptance = np.minimum(acceptance, most_acceptance(statement.reduced.valuation, spend, floor))
    return Room(spend, acceptance, takes)
