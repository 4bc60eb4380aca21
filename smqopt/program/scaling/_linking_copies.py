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

    @classmethod
    def of(cls, constraints: Sequence[cp.Constraint], acceptance: cp.Variable, unitless_spend: cp.Variable) -> Tied:
        """State some constraints in copies of variables."""
        q, b = (cp.Variable(acceptance.size, name=name) for name in ("acceptance", "unitless_spend"))
        return cls(frozenset(id(one) for one in constraints), q, b, (q == acceptance, b == unitless_spend))

    def charge(self) -> tuple[Floats, Floats]:
        """Return what the constraints take of the objective, as the last solve found.

        Of one more unit of acceptance, and of unitless spend.
        """
        of_acceptance, of_spend = (-np.asarray(tie.dual_value, dtype=np.float64) for tie in self.ties)
        return of_acceptance, of_spend
