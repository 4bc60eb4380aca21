"""Atoms of nonlinear rows, brought to sizes near 1.

Cvxpy gives each nonlinear atom a variable of its own, which no division of the row can reach. What
is homogeneous of a degree d is stated as sᵈ f(x/s), where s is the size of x at a typical point.
"""

from __future__ import annotations

from collections.abc import Mapping

import cvxpy as cp
import numpy as np

from smqopt.errors import InputError
from smqopt.program.dcp._affine import dense

_MODERATE = 2.0**4
"""Arguments of atoms from its inverse up to this stay."""
_LARGEST = 2.0**24
_FACTOR = 2.0**64
"""Of an atom that was divided."""
_DEGREE = {"quad_over_lin": 2, "Pnorm": 1, "norm1": 1, "norm_inf": 1, "abs": 1, "max": 1, "maximum": 1}
"""Classes of atoms that are homogeneous in the first argument, `maximum` in all; powers are too."""


def moderate(expression: cp.Expression, point: Mapping[int, cp.Constant], words: str) -> cp.Expression:
    """Return an expression that says the same with atoms of sizes near 1.

    At a point that gives for the id of each variable a constant in its place, of order 1; `words`
    of the row are for the error.
    """
    if expression.is_affine():
        return expression
    arguments = [moderate(one, point, words) for one in expression.args]
    degree = _degree(expression)
    if degree is not None:
        first = arguments if "maximum" in _names(expression) else arguments[:1]
        size = power_of_two(max((_largest(one, point) for one in first), default=0.0))
        if not 1.0 / _MODERATE <= size <= _MODERATE:
            _require_moderate(float(np.exp2(min(degree * np.log2(size), 1e3))), words, _FACTOR)
            divided = [one / size for one in first] + arguments[len(first) :]
            return float(size**degree) * expression.copy(divided)
    made = expression.copy(arguments)
    if not expression.is_atom_affine():  # else it gets no variable
        _require_moderate(_largest(expression, point), words)
    return made


def _degree(expression: cp.Expression) -> float | None:
    names = _names(expression)
    if names & {"power", "Power"}:
        p = getattr(expression.p, "value", expression.p)
        return float(p) if p is not None and p > 0 else None
    return next((degree for name, degree in _DEGREE.items() if name in names), None)


def _names(expression: cp.Expression) -> set[str]:
    """Return the names of an atom's classes: cvxpy shows functions in their place."""
    return {kind.__name__ for kind in type(expression).__mro__}


def _largest(expression: cp.Expression, point: Mapping[int, cp.Constant]) -> float:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        value = expression.tree_copy(dict(point)).value
    return 0.0 if value is None else float(np.max(np.abs(dense(value)), initial=0.0))


def power_of_two(largest: float) -> float:
    """Return the power of two above a size; 1 where there is none."""
    return float(np.ldexp(1.0, np.frexp(largest)[1])) if 0.0 < largest < np.inf else 1.0


def _require_moderate(size: float, words: str, largest: float = _LARGEST) -> None:
    if size == 0 or 1.0 / largest <= size <= largest:
        return
    raise InputError(
        "program: an added constraint with a nonlinear term",
        f"must have numbers between {1 / largest:.0e} and {largest:.0e}, to be solved accurately",
        value=f"{words}, of size {size:.0e}",
        remedy="divide inside the term and on the other side, as in cp.norm(program.spend / 1e8) <= cap / 1e8",
    )
