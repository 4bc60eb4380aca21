"""Affine cvxpy expressions as matrices, coefficient by coefficient.

As cvxpy itself states them to a solver; all at once, for each such statement has its price.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from smqopt.numeric import Floats


@dataclass(frozen=True)
class AffineMap:
    """M x + c for the values x of some variables, one after the other."""

    matrix: sparse.csr_array
    """M, shape (entries of the expressions, total size of the variables)."""
    constant: Floats
    """c, one for each entry."""

    def take(self, entries: slice) -> AffineMap:
        """Return some entries alone."""
        return AffineMap(self.matrix[entries], self.constant[entries])


def dense(value: Any) -> Floats:
    """Return a value of cvxpy as an array, also where it is a sparse matrix."""
    table: Any = value
    return np.asarray(table.toarray() if sparse.issparse(value) else table, dtype=np.float64)


def affine_map(expressions: Sequence[cp.Expression], variables: Sequence[cp.Variable]) -> AffineMap:
    """Read affine expressions in some variables, one under the other.

    Of at most one dimension each; their parameters are taken at their values.
    """
    ends = np.cumsum([0, *(one.size for one in variables)]).tolist()
    places = dict(zip([one.id for one in variables], itertools.pairwise(ends), strict=False))
    if not expressions:
        return AffineMap(sparse.csr_array((0, ends[-1])), np.zeros(0))
    with warnings.catch_warnings(), np.errstate(over="ignore"):  # cvxpy adds up an empty array for its shape
        every = cp.Minimize(sum(cp.sum(one) for one in variables))
        rows = cp.Problem(every, [expression == 0 for expression in expressions])
        warnings.filterwarnings("ignore", message="Constraint .* contains too many subexpressions")
        data, _, _ = rows.get_problem_data(cp.CLARABEL, ignore_dpp=True)
    A, first = sparse.csc_array(data["A"]), data["param_prob"].var_id_to_col
    if A.shape[1] > ends[-1]:  # running sums are stated in variables of their own
        return _by_derivative(expressions, places, ends[-1])
    order = np.concatenate([first[one.id] + np.arange(one.size) for one in variables])
    return AffineMap(sparse.csr_array(A[:, order]), -np.asarray(data["b"], dtype=np.float64))


def _by_derivative(
    expressions: Sequence[cp.Expression], places: Mapping[int, tuple[int, int]], width: int
) -> AffineMap:
    """Ask cvxpy for derivatives at 0, and restore the values of the variables."""
    variables = {one.id: one for expression in expressions for one in expression.variables()}.values()
    before = [one.value for one in variables]
    for one in variables:
        one.value = np.zeros(one.shape)
    constant = [dense(expression.value).ravel() for expression in expressions]
    parts = [sparse.csr_array((values.size, width)) for values in constant]
    for number, (expression, values) in enumerate(zip(expressions, constant, strict=True)):
        for one, slope in expression.grad.items():
            entries = sparse.coo_array(np.atleast_2d(slope) if np.isscalar(slope) else slope)
            at = entries.col, places[one.id][0] + entries.row
            parts[number] = parts[number] + sparse.csr_array((entries.data, at), shape=(values.size, width))
    for one, value in zip(variables, before, strict=True):
        one.value = value
    return AffineMap(sparse.csr_array(sparse.vstack(parts)), np.concatenate(constant))
