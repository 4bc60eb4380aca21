"""Constraints stated in cvxpy: what can be checked, and what is a word.

The rows that follow from them are verified as all rows are. Of what the files do not tell it is
seen whether it was said of these offers, whether the offers keep the constraints as it says, and
whether the rows that have a price touch them there, as the tightest rows do.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.market import Solution, StatedInCvxpy, Statement
from smqopt.numeric import CURVED_ROW
from smqopt.verification.checks._check import Check

WORD = "that rows follow from constraints in cvxpy, and that the offers keep these, is the conic solver's word"


def rests_on_a_word(solution: Solution) -> bool:
    """Return whether something that bounds a solution is a solver's word."""
    return any(record.by_word for record in solution.records)


def checks_by_word(solution: Solution, statement: Statement) -> list[Check]:
    """Check every record of constraints stated in cvxpy."""
    checks: list[Check] = []
    for number, record in enumerate(solution.records):
        if isinstance(record, StatedInCvxpy):
            name = f"stated in cvxpy {len(checks) + 1}"
            apart = _apart(solution, statement, number)
            as_made = record.is_of(solution.acceptance, solution.spend)
            value = max(record.residual, apart) if as_made else math.inf
            norm = f"what the offers break it by, or a row with a price is away from them; {CURVED_ROW.norm}; {WORD}"
            note = (
                record.words if as_made else f"{record.words}: what is said of it was edited, or said of other offers"
            )
            checks.append(Check(name, value <= CURVED_ROW.value, value, CURVED_ROW.value, norm, note=note))
    return checks


def _apart(solution: Solution, statement: Statement, number: int) -> float:
    """Return how far the rows of a record that have a price are from the offers."""
    mine = np.array(statement.record_of_row, dtype=np.intp) == number
    if solution.constraint_prices.shape != mine.shape:
        return math.inf if mine.any() else 0.0
    priced = mine & (solution.constraint_prices != 0)
    A, S = statement.owner_rows()
    q, spend = solution.acceptance, solution.spend
    size = np.abs(statement.at_most) + abs(A) @ q + S @ spend
    apart = np.abs(statement.at_most - A @ q - S @ spend) / np.where(size > 0, size, 1.0)
    return float(np.max(apart[priced], initial=0.0))
