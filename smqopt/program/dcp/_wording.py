"""Constraints in the words of those who wrote them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.index import special_index

_LONGEST = 100
_MOST_NUMBERS = 100
"""Beyond so many indices or constants cvxpy's text takes long to make, and nobody reads it."""


def words_of(constraint: object) -> str:
    """Say a cvxpy constraint in a line: by its label, or as cvxpy writes it.

    Where that is long, by what it is about.
    """
    label = getattr(constraint, "label", None)
    if label:
        return str(label)
    if isinstance(constraint, cp.Constraint) and _numbers(constraint.args) > _MOST_NUMBERS:
        names = " and ".join(dict.fromkeys(variable.name() for variable in constraint.variables()))
        return f"a constraint on {names} ({type(constraint).__name__.lower()} of {constraint.size})"
    return shortened_text(constraint)


def shortened_text(said: object) -> str:
    """Say anything of cvxpy in a line, not all of a long one."""
    text = " ".join(str(said).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _numbers(expressions: list[cp.Expression]) -> int:
    """Count the numbers that a text of expressions would spell out.

    Those in lists of indices.
    """
    total = 0
    for expression in expressions:
        if isinstance(expression, special_index):
            key = expression.key if isinstance(expression.key, tuple) else (expression.key,)
            total += sum(int(np.size(part)) for part in key if not isinstance(part, slice))
        total += _numbers(getattr(expression, "args", []))
    return total
