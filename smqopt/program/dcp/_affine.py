"""Affine cvxpy expressions as matrices, by cvxpy's own derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from smqopt.numeric import Floats


def dense(value: Any) -> Floats:
    """Return a value of cvxpy as an array, also where it is a sparse matrix."""
    table: Any = value
    return np.asarray(table.toarray() if sparse.issparse(value) else table, dtype=np.float64)


def affine_map(
    expressions: Sequence[cp.Expression], variables: Sequence[cp.Variable]
) -> tuple[sparse.csr_array, Floats]:
    """Return M and c of M x + c: affine expressions, one under the other.

    Of at most one dimension each, in some variables, one after the other; their parameters are
    taken at their values.
    """
    starts = np.cumsum([0, *(one.size for one in variables)]).tolist()
    first = dict(zip([one.id for one in variables], starts, strict=False))
    before = [one.value for one in variables]
    slopes: list[Any] = [np.zeros(0)]
    rows: list[Any] = [np.zeros(0, dtype=np.intp)]
    columns: list[Any] = [np.zeros(0, dtype=np.intp)]
    constant = [np.zeros(0)]
    count = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for one in variables:
            one.save_value(np.ones(one.shape))  # where means of one number have slopes, too
        grads = [expression.grad for expression in expressions]
        for one in variables:
            one.save_value(np.zeros(one.shape))
        for expression, grad in zip(expressions, grads, strict=True):
            constant.append(dense(expression.value).ravel())
            for one, slope in grad.items():
                entries = sparse.coo_array(np.atleast_2d(slope) if np.ndim(slope) == 0 else slope)
                slopes.append(entries.data)
                rows.append(count + entries.col)
                columns.append(first[one.id] + entries.row)
            count += constant[-1].size
    for one, value in zip(variables, before, strict=True):
        one.save_value(value)
    at = np.concatenate(rows), np.concatenate(columns)
    matrix = sparse.coo_array((np.concatenate(slopes), at), shape=(count, starts[-1]))
    return sparse.csr_array(matrix), np.concatenate(constant)
