"""Affine cvxpy expressions as matrices.

What a constraint says of acceptance and spend, coefficient by coefficient.

cvxpy's own derivative of an expression gives the same, a hundred times slower at market size. It is
asked where an expression holds an atom that is not read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.affine.unary_operators import NegExpression
from scipy import sparse

from smqopt.numeric import Floats


@dataclass(frozen=True)
class AffineMap:
    """M x + c for the values x of some variables, one after the other."""

    matrix: sparse.csr_array
    """M, shape (size of the expression, total size of the variables)."""
    constant: Floats
    """c, shape (size of the expression,)."""


def dense(value: Any) -> Floats:
    """Return a value of cvxpy as an array, also where it is a sparse matrix."""
    table: Any = value
    return np.asarray(table.toarray() if sparse.issparse(value) else table, dtype=np.float64)


def affine_map(expression: cp.Expression, places: Mapping[int, int], width: int) -> AffineMap | None:
    """Read an expression of at most one dimension as an affine map of known variables.

    Parameters
    ----------
    expression
        A cvxpy expression; its parameters are taken at their values.
    places
        The id of a variable → the place of its first entry in x.
    width
        The length of x.

    Returns
    -------
    AffineMap
        Or None where the expression is not affine, has other variables or more dimensions, or a
        parameter without a value.
    """
    known = all(variable.id in places for variable in expression.variables())
    valued = all(parameter.value is not None for parameter in expression.parameters())
    if not known or not valued or len(expression.shape) > 1 or not expression.is_affine():
        return None
    found = _read(expression, places, width)
    return _by_derivative(expression, places, width) if found is None else found


def _read(expression: cp.Expression, places: Mapping[int, int], width: int) -> AffineMap | None:
    """Read an expression atom by atom; None where an atom is not known here."""
    if expression.is_constant():  # of a matrix the product that it stands in takes the value itself
        value = np.zeros(0) if len(expression.shape) > 1 else dense(expression.value).ravel()
        return AffineMap(sparse.csr_array((value.size, width)), value)
    if len(expression.shape) > 1:
        return None
    if isinstance(expression, cp.Variable):
        columns = places[expression.id] + np.arange(expression.size)
        ends = np.arange(expression.size + 1)
        matrix = sparse.csr_array((np.ones(columns.size), columns, ends), shape=(columns.size, width))
        return AffineMap(matrix, np.zeros(columns.size))
    arguments = [_read(argument, places, width) for argument in expression.args]
    if any(argument is None for argument in arguments):
        return None
    return _combine(expression, [argument for argument in arguments if argument is not None])


def _combine(expression: cp.Expression, arguments: list[AffineMap]) -> AffineMap | None:
    first = arguments[0]
    size = expression.size
    match expression:
        case NegExpression():
            return AffineMap(-first.matrix, -first.constant)
        case AddExpression():
            return _total([_spread(argument, size) for argument in arguments])
        case Sum() if expression.axis is None:
            return AffineMap(
                sparse.csr_array(first.matrix.sum(axis=0).reshape(1, -1)), np.array([first.constant.sum()])
            )
        case Promote():
            return _spread(first, size)
        case index() | special_index():
            chosen = np.asarray(expression.numeric([np.arange(expression.args[0].size)]), dtype=np.intp).ravel()
            return AffineMap(first.matrix[chosen], first.constant[chosen])
        case DivExpression():
            return _times(_spread(first, size), 1.0 / arguments[1].constant)
        case multiply():
            return _product(expression, [_spread(argument, size) for argument in arguments])
        case MulExpression():
            return _matrix_product(expression, arguments)
    return None


def _total(arguments: list[AffineMap]) -> AffineMap:
    matrix, constant = arguments[0].matrix, arguments[0].constant
    for other in arguments[1:]:
        matrix = matrix if other.matrix.nnz == 0 else other.matrix if matrix.nnz == 0 else matrix + other.matrix
        constant = constant + other.constant
    return AffineMap(matrix, constant)


def _product(expression: cp.Expression, arguments: list[AffineMap]) -> AffineMap:
    factor, other = arguments if expression.args[0].is_constant() else arguments[::-1]
    return _times(other, factor.constant)


def _matrix_product(expression: cp.Expression, arguments: list[AffineMap]) -> AffineMap | None:
    left, right = expression.args
    given, other = (left.value, arguments[1]) if left.is_constant() else (right.value.T, arguments[0])
    table: Any = given if sparse.issparse(given) else np.atleast_2d(np.asarray(given, dtype=np.float64))
    factor = sparse.csr_array(table)
    return AffineMap(sparse.csr_array(factor @ other.matrix), np.asarray(factor @ other.constant))


def _times(argument: AffineMap, factor: Floats) -> AffineMap:
    spread = np.broadcast_to(factor, argument.constant.shape)
    matrix = argument.matrix.copy()
    matrix.data = matrix.data * np.repeat(spread, np.diff(matrix.indptr))
    with np.errstate(invalid="ignore"):  # what is not finite is refused where it is stated
        return AffineMap(matrix, argument.constant * spread)


def _spread(argument: AffineMap, size: int) -> AffineMap:
    """Repeat a scalar."""
    if argument.constant.size == size:
        return argument
    every = np.zeros(size, dtype=np.intp)
    return AffineMap(argument.matrix[every], argument.constant[every])


def _by_derivative(expression: cp.Expression, places: Mapping[int, int], width: int) -> AffineMap:
    """Ask cvxpy for the derivative at 0, and restore the values of the variables."""
    variables = expression.variables()
    before = [variable.value for variable in variables]
    for variable in variables:
        variable.value = np.zeros(variable.shape)
    constant = dense(expression.value).ravel()
    matrix = sparse.csr_array((constant.size, width))
    for variable, part in expression.grad.items():
        entries = sparse.coo_array(np.atleast_2d(part) if np.isscalar(part) else part)
        columns = places[variable.id] + entries.row
        matrix = matrix + sparse.csr_array((entries.data, (entries.col, columns)), shape=matrix.shape)
    for variable, value in zip(variables, before, strict=True):
        variable.value = value
    return AffineMap(sparse.csr_array(matrix), constant)
