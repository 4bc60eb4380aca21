"""What a conic answer says of the linear part of a program.

Its records, and the multipliers of their rows.
"""

from __future__ import annotations

import numpy as np

from smqopt.market import ConstraintRecord
from smqopt.numeric import Floats
from smqopt.program import LinearReading, Program


def linear_part(program: Program, reading: LinearReading) -> tuple[tuple[ConstraintRecord, ...], Floats]:
    """Return what is linear as records, and the multipliers of the last solve.

    No records where something was taken out of the program, and no multipliers where the solver
    gives none.

    Parameters
    ----------
    program
        The program.
    reading
        What was added in cvxpy.
    """
    if program.removed:
        return (), np.zeros(0)
    records = (*program.records, *(record for one in reading.linear for record in one.records))
    linear = [one.constraint for one in reading.linear]
    if any(constraint.dual_value is None for constraint in (*program.of_records, *linear)):
        return records, np.zeros(0)
    rows = len(program.statement.names)
    equal = program.statement.equal.tolist()
    prices = [_at_least_0(row.dual_value, equal[k]) for k, row in enumerate(program.of_records[:rows])]
    for one in reading.linear:
        values = np.ravel(one.constraint.dual_value)
        prices += [_at_least_0(values[entry], one.equal) for entry in one.row_entries]
    return records, np.array(prices, dtype=np.float64)


def _at_least_0(value: float, equal: bool) -> float:
    return float(value) if equal else max(float(value), 0.0)
