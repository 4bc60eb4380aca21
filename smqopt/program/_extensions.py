"""What a user made of a program.

Which constraints were added to OP2, which were taken out, and what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import cvxpy as cp
import numpy as np

from smqopt.errors import InputError
from smqopt.market import ConstraintRecord
from smqopt.program._linear_rows import LinearConstraint, linear_constraints
from smqopt.program.dcp._wording import words_of

_MOST_ROWS = 20_000
"""More rows than this make a dense system too large; the conic route takes them."""

Entry: TypeAlias = "cp.Constraint | bool"


class Extensible:
    """What was added to a program and taken out, from its constraints as they are now."""

    records: tuple[ConstraintRecord, ...]
    constraints: list[cp.Constraint]
    acceptance: cp.Variable
    spend: cp.Variable
    _op2: Sequence[tuple[cp.Constraint, str]]
    """OP2's own constraints, each with its words."""
    _of_records: Sequence[tuple[cp.Constraint, str]]
    """The constraints that state the records, in the order of the records, each with its record's
    words."""

    def entries(self) -> list[Entry]:
        """Return what stands in the program, but for what always holds.

        NumPy's truth values become Python's.
        """
        some = [one for one in self.constraints if not (isinstance(one, cp.Constraint) and 0 in one.shape)]
        plain = [bool(one) if isinstance(one, np.bool_) else one for one in some]
        return [one for one in plain if one is not True]

    def _besides(self, *known: tuple[cp.Constraint, str]) -> list[Entry]:
        ids = {id(constraint) for constraint, _ in known}
        return [constraint for constraint in self.entries() if id(constraint) not in ids]

    @property
    def added(self) -> list[Entry]:
        """The constraints that are not OP2's own."""
        return self._besides(*self._op2)

    @property
    def in_cvxpy(self) -> list[Entry]:
        """The constraints that are neither OP2's own nor those of records."""
        return self._besides(*self._op2, *self._of_records)

    @property
    def named(self) -> list[tuple[str, Entry]]:
        """The constraints that are not OP2's own, each with its words.

        Those of a record have the record's.
        """
        words = {id(constraint): words for constraint, words in self._of_records}
        return [(words.get(id(one)) or words_of(one), one) for one in self.added]

    @property
    def removed(self) -> tuple[str, ...]:
        """Constraints of OP2 and of records that were taken out, in words, each once."""
        kept = {id(constraint) for constraint in self.entries()}
        every = (*self._op2, *self._of_records)
        return tuple(dict.fromkeys(words for constraint, words in every if id(constraint) not in kept))

    @property
    def extensions(self) -> tuple[str, ...]:
        """What differs from OP2, in words.

        Records, other constraints added, then what was taken out.
        """
        return (
            *(record.words for record in self.records),
            *(words_of(constraint) for constraint in self.in_cvxpy),
            *(f"without {words}" for words in self.removed),
        )

    @property
    def is_extended(self) -> bool:
        """Whether the constraints are others than OP2's own."""
        return bool(self.records or self.added or self.removed)

    def read(self, *, both_sides: bool = False) -> tuple[tuple[LinearConstraint, ...], tuple[Entry, ...]]:
        """Read what was added in cvxpy, with its parameters as they are now.

        As rows and bounds where it is linear, and what is not as it stands; all of it where the
        linear ones have too many rows. With `both_sides` |x| ≤ c is read as two rows. Parameters
        without a value, and variables of another program, are refused.
        """
        constraints = self.in_cvxpy
        for constraint in constraints:
            if isinstance(constraint, cp.Constraint):
                _require_own_values(constraint, (self.acceptance.id, self.spend.id))
        read = linear_constraints(constraints, self.acceptance, self.spend, both_sides=both_sides)
        linear = tuple(one for one in read if one is not None)
        if sum(len(one.rows) for one in linear) > _MOST_ROWS:
            return (), tuple(constraints)
        return linear, tuple(one for one, found in zip(constraints, read, strict=True) if found is None)


OF_PROGRAMS: set[int] = set()
"""The ids of the acceptances and spends of all programs."""


def _require_own_values(constraint: cp.Constraint, own: tuple[int, int]) -> None:
    where = f"program: constraint {words_of(constraint)!r}"
    for parameter in constraint.parameters():
        if parameter.value is None:
            raise InputError(where, "has a parameter without a value", value=parameter.name(), remedy="set its value")
    for leaf in (*constraint.variables(), *constraint.constants()):
        if leaf.is_complex():
            raise InputError(where, "must be real", value=leaf.name(), remedy="constrain its parts one by one")
    for variable in constraint.variables():
        if variable.id in OF_PROGRAMS and variable.id not in own:
            raise InputError(
                where,
                "is about another program",
                value=variable.name(),
                remedy="write it with this program's acceptance and spend",
            )
