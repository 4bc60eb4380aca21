"""What offers break a cvxpy constraint by, as cvxpy evaluates it.

Relative to the sum of its absolute terms, as for linear rows.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.unary_operators import NegExpression

from smqopt.numeric import Floats
from smqopt.program import dense


def residual(constraint: cp.Constraint) -> float:
    """Return the share by which the values of its variables break a constraint.

    0 where they keep it, +∞ where it has no value.
    """
    with np.errstate(all="ignore"):
        broken = _excess(constraint)
        size = size_of(constraint)
    if not np.isfinite(broken):
        return float("inf")
    return 0.0 if broken <= 0 else float(broken / size) if size > 0 else float("inf")


def size_of(constraint: cp.Constraint) -> float:
    """Return the largest sum of absolute terms of a constraint at its values."""
    with np.errstate(all="ignore"):
        return max((float(np.max(_size(argument), initial=0.0)) for argument in constraint.args), default=0.0)


def _excess(constraint: cp.Constraint) -> float:
    if isinstance(constraint, cp.ExpCone):  # cvxpy would ask a solver how far the cone is
        x, y, z = (np.asarray(argument.value, dtype=np.float64) for argument in constraint.args)
        at_0 = np.where(x <= 0, 0.0, np.inf)
        return float(np.max(np.maximum(np.where(y > 0, y * np.exp(x / y), at_0) - z, -y), initial=0.0))
    if isinstance(constraint, cp.PowCone3D):
        x, y, z = (np.asarray(argument.value, dtype=np.float64) for argument in constraint.args)
        alpha = np.asarray(constraint.alpha.value, dtype=np.float64)
        mean = np.maximum(x, 0.0) ** alpha * np.maximum(y, 0.0) ** (1.0 - alpha)
        return float(np.max(np.maximum(np.abs(z) - mean, np.maximum(-x, -y)), initial=0.0))
    value = constraint.violation()
    return float("inf") if value is None else float(np.max(value, initial=0.0))


def _size(expression: cp.Expression) -> Floats:
    """Return an expression with the absolute values of all its terms, at all depths."""
    value = np.abs(dense(expression.value))
    if not getattr(expression, "args", None):
        return value
    sizes = [_size(argument) for argument in expression.args]
    if isinstance(expression, (AddExpression, NegExpression)):
        return np.asarray(sum(sizes[1:], start=sizes[0]))
    uncancelled = np.abs(dense(expression.numeric(sizes)))
    return np.where(np.isfinite(uncancelled), np.maximum(value, uncancelled), value)
