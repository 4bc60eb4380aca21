"""The record every cone form gives, and its parameters, free of units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Indices
from smqopt.program.cones._pieces import Pieces
from smqopt.valuation import Valuation


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


def for_owners(
    stating: Stating, law: Callable[[], Valuation], q: cp.Expression, unit: Floats, owners: Indices
) -> Iterator[ConeForm]:
    """State the cost curves of those owners, of all that q speaks of.

    Nothing where there are none.

    Parameters
    ----------
    stating
        How to state them.
    law
        Makes the laws of those owners, or one law common to them.
    q, unit
        Acceptances and units of all owners.
    owners
        Places in q.
    """
    if owners.size:
        for form in stating(law(), pick(q, owners), unit[owners]):
            yield replace(form, owners=owners[form.owners])


def alike(*cases: NDArray[np.bool_]) -> Iterator[tuple[Indices, tuple[bool, ...]]]:
    """Gather the owners for whom the same cases hold.

    Their places, and whether each case does.
    """
    for found in np.unique(np.column_stack(cases), axis=0):
        yield np.flatnonzero(np.all(np.column_stack(cases) == found, axis=1)), tuple(bool(case) for case in found)


def in_units(values: float | Floats, unit: Floats) -> Floats:
    """Divide a scalar, or one number an owner, by the owners' units; shape (m,)."""
    return np.asarray(values, dtype=np.float64) / unit


def pick(q: cp.Expression, owners: Indices) -> cp.Expression:
    """Take some owners' entries.

    The vector itself where that is all of them, in their order.
    """
    return q if np.array_equal(owners, np.arange(q.size)) else q[owners]


def spread(law: Valuation, name: str, size: int) -> Floats:
    """Return a parameter of a law as one number an owner; shape (size,)."""
    return np.broadcast_to(np.asarray(law.arguments[name], dtype=np.float64), (size,))
