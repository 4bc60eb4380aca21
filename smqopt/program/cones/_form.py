"""The record every cone form gives, and its parameters, free of units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats, Indices
from smqopt.program.cones._pieces import Pieces


@dataclass(frozen=True)
class ConeForm:
    """A convex expression for the cost curves C_i(q_i) = q_i F_i⁻¹(q_i) of owners.

    In units of currency of their own.

    At fixed acceptances, the least value of `cost` over the variables that only `side` mentions is
    C_i(q_i)/unit_i exactly.
    """

    owners: Indices
    """Which owners, as places in the vector of acceptances that the form was asked for; shape (m,).
    """
    cost: cp.Expression
    """C_i(q_i)/unit_i, or an upper bound of it that `side` makes tight; shape (m,)."""
    side: Sequence[cp.Constraint] = ()
    """Cone constraints that tie further variables to the acceptances; free of units."""
    pieces: Pieces | None = None
    """Where the form is not exact: straight pieces, to be refined round the answer."""


Stating = Callable[[Any, cp.Expression, Floats], Iterator[ConeForm]]
"""Laws of m owners, or one law common to them; acceptances, an affine expression of shape (m,);
units of currency, shape (m,) → forms of the cost curves of some of the owners."""

Term = tuple[cp.Expression, Sequence[cp.Constraint]]
"""A convex expression of shape (m,), and the constraints that tie its variables."""


def pick(q: cp.Expression, owners: Indices) -> cp.Expression:
    """Take some owners' entries.

    The vector itself where that is all of them, in their order.
    """
    return q if np.array_equal(owners, np.arange(q.size)) else q[owners]
