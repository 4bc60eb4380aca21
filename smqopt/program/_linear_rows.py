"""Affine cvxpy constraints over acceptance and spend as records.

What the structured solver takes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from scipy import sparse

from smqopt.errors import InputError
from smqopt.market import ENTRY, AcceptanceBounds, ConstraintRecord, LinearRow
from smqopt.numeric import Floats, Indices
from smqopt.program.dcp._affine import affine_map
from smqopt.program.dcp._wording import words_of

FLOOR_ON_SPEND = "beside constraints that are not linear bound acceptance instead; else state the highest price, by PriceRange(at_most=...)"


@dataclass(frozen=True)
class LinearConstraint:
    """A cvxpy constraint, and the records that say the same."""

    constraint: cp.Constraint
    rows: tuple[LinearRow, ...]
    row_entries: tuple[int, ...]
    """Which entry of the constraint each row is."""
    bounds: AcceptanceBounds | None
    """Its entries over one acceptance each."""
    bound_entries: tuple[tuple[int, int, float], ...]
    """(entry of the constraint, row of the market, coefficient) for each bound."""
    equal: bool
    """Whether the constraint is an equation."""

    @property
    def records(self) -> tuple[ConstraintRecord, ...]:
        """All of them, the rows first."""
        return self.rows if self.bounds is None else (*self.rows, self.bounds)


def linear_constraints(
    constraints: Sequence[object], acceptance: cp.Variable, spend: cp.Variable, *, both_sides: bool = False
) -> list[LinearConstraint | None]:
    """Read constraints as linear rows and bounds.

    None in place of one that is not linear in acceptance and spend. With `both_sides` |x| ≤ c is
    read as x ≤ c and −x ≤ c.
    """
    sides = [_sides(one, acceptance, spend, both_sides=both_sides) for one in constraints]
    matrix, constant = affine_map([side.expr for of_one in sides for side in of_one], (acceptance, spend))
    ends = np.cumsum([0, *(sum(side.size for side in of_one) for of_one in sides)]).tolist()
    return [
        _records(one, matrix[i:j], constant[i:j], acceptance.size)
        if of_one and isinstance(one, cp.Constraint)
        else None
        for one, of_one, (i, j) in zip(constraints, sides, itertools.pairwise(ends), strict=True)
    ]


def _sides(
    constraint: object, acceptance: cp.Variable, spend: cp.Variable, *, both_sides: bool
) -> list[cp.constraints.Inequality | cp.constraints.Equality]:
    """Return the linear constraints that say the same; none where there are none."""
    if not isinstance(constraint, cp.Constraint):
        return []
    sides = [constraint]
    if both_sides and isinstance(constraint, cp.constraints.Inequality) and isinstance(constraint.args[0], cp.abs):
        sides = [sign * constraint.args[0].args[0] <= constraint.args[1] for sign in (1.0, -1.0)]
    return sides if all(is_linear(side, acceptance, spend) for side in sides) else []


def is_linear(constraint: cp.Constraint, acceptance: cp.Variable, spend: cp.Variable) -> bool:
    """Return whether a constraint is linear in acceptance and spend alone."""
    simple = isinstance(constraint, (cp.constraints.Inequality, cp.constraints.Equality)) and len(constraint.shape) <= 1
    known = all(variable.id in (acceptance.id, spend.id) for variable in constraint.variables())
    return simple and known and bool(constraint.expr.is_affine())


def _records(constraint: cp.Constraint, matrix: sparse.csr_array, constant: Floats, n: int) -> LinearConstraint:
    equal = isinstance(constraint, cp.constraints.Equality)
    matrix.eliminate_zeros()
    name = words_of(constraint)
    if not (np.isfinite(matrix.data).all() and np.isfinite(constant).all()):
        raise InputError(f"program: constraint {name!r}", "must have finite numbers", remedy="drop what bounds nothing")
    count = np.diff(matrix.indptr)
    alone = count == 1
    alone[alone] = matrix.indices[matrix.indptr[:-1][alone]] < n
    alone &= matrix.shape[0] == constraint.size  # the two sides of a modulus are rows
    bounds, bound_entries = _bounds(matrix, constant, np.flatnonzero(alone), name, equal=equal)
    others = np.flatnonzero(~alone)
    rows = tuple(_rows(matrix, constant, others, n, name, equal=equal))
    return LinearConstraint(constraint, rows, tuple((others % constraint.size).tolist()), bounds, bound_entries, equal)


def _bounds(
    matrix: sparse.csr_array, constant: Floats, entries: Indices, name: str, *, equal: bool
) -> tuple[AcceptanceBounds | None, tuple[tuple[int, int, float], ...]]:
    """Return a q_i + c ≤ 0 as a bound of q_i: above where a > 0, below where a < 0."""
    if entries.size == 0:
        return None, ()
    at = matrix.indptr[:-1][entries]
    owner, coefficient = matrix.indices[at], matrix.data[at]
    bound = -constant[entries] / coefficient
    above, below = equal | (coefficient > 0), equal | (coefficient < 0)
    record = AcceptanceBounds(
        at_least=tuple(zip(owner[below].tolist(), bound[below].tolist(), strict=True)),
        at_most=tuple(zip(owner[above].tolist(), bound[above].tolist(), strict=True)),
        name=name,
    )
    return record, tuple(zip(entries.tolist(), owner.tolist(), coefficient.tolist(), strict=True))


def _rows(
    matrix: sparse.csr_array, constant: Floats, entries: Indices, n: int, name: str, *, equal: bool
) -> Iterator[LinearRow]:
    for entry in entries.tolist():
        start, end = matrix.indptr[entry], matrix.indptr[entry + 1]
        columns, values = matrix.indices[start:end], matrix.data[start:end]
        spends = columns >= n
        yield LinearRow(
            at_most=-float(constant[entry]),
            acceptance=tuple(zip(columns[~spends].tolist(), values[~spends].tolist(), strict=True))
            or (() if spends.any() else ((0, 0.0),)),  # an entry may be about nobody
            spend=tuple(zip((columns[spends] - n).tolist(), values[spends].tolist(), strict=True)),
            equal=equal,
            name=name if matrix.shape[0] == 1 else f"{name}{ENTRY}{entry + 1}",
        )
