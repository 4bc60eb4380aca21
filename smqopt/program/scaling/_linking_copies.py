"""Copies of acceptance and spend in which constraints are stated.

The multipliers of the ties tell what the constraints take, smooth or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats


@dataclass(frozen=True)
class Tied:
    """Copies of acceptance and spend in which some constraints are stated.

    The multipliers of the ties are what these constraints take.
    """

    constraints: frozenset[int]
    """The ids of the constraints."""
    acceptance: cp.Variable
    unitless_spend: cp.Variable
    ties: tuple[cp.Constraint, cp.Constraint]
    """That the copies are what they are copies of."""

    def charge(self) -> tuple[Floats, Floats]:
        """Return what the constraints take of the objective, as the last solve found.

        Of one more unit of acceptance, and of unitless spend.
        """
        of_acceptance, of_spend = (-np.asarray(tie.dual_value, dtype=np.float64) for tie in self.ties)
        return of_acceptance, of_spend


class Copies:
    """Copies of a program's variables, made once."""

    def __init__(self, acceptance: cp.Variable, unitless_spend: cp.Variable) -> None:
        n = acceptance.size
        self._copies = cp.Variable(n, name="acceptance"), cp.Variable(n, name="unitless_spend")
        self._ties = self._copies[0] == acceptance, self._copies[1] == unitless_spend

    def of(self, constraints: Sequence[cp.Constraint]) -> Tied:
        """State some constraints in them."""
        return Tied(frozenset(id(one) for one in constraints), *self._copies, self._ties)
