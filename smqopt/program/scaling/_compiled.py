"""A cvxpy problem compiled once, whose pieces change in the solver's data.

A cvxpy Parameter for every number of every piece would make compilation take gigabytes. The pieces
are constants instead, and where one compiles to is found by what the rows look like: they alone
hold the `cost` of their `Pieces` with a negative sign. Where they are not found, as with a solver
that is given its data in another form, the problem is compiled anew for each solve.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from smqopt.numeric import Indices
from smqopt.program.cones._pieces import Pieces

_KEPT = ("solver", "warm_start", "verbose")
"""Options of `cvxpy.Problem.solve` that are understood here, beside the solver's own."""
_OTHERS = ("canon_backend", "enforce_dpp", "ignore_dpp", "gp", "qcp", "requires_grad", "method")


@dataclass(frozen=True)
class _Place:
    """Where the numbers of some pieces stand in the solver's data."""

    slopes: Indices
    """Places in the data of A, in the order of the pieces."""
    rows: Indices
    """Rows of b, which hold the negative offsets."""


class Compiled:
    """A problem with pieces, compiled when it is first solved.

    Attributes
    ----------
    compilations
        How often cvxpy has compiled it.
    bound
        What the solver's dual says of the last problem: its value is at most this; the value itself
        where the solver does not tell.
    """

    def __init__(self, problem: cp.Problem, pieces: Sequence[Pieces]) -> None:
        self.problem, self._pieces = problem, tuple(pieces)
        self.compilations = 0
        self.bound = np.inf
        self._chain: Any = None
        self._places: list[_Place] | None = None

    def solve(self, options: Mapping[str, Any]) -> None:
        """Solve for the pieces as they are, and leave the answer in the problem.

        Raises
        ------
        cvxpy.error.SolverError
            If the solver fails.
        """
        by_data = options.get("solver", cp.CLARABEL) == cp.CLARABEL and not any(name in options for name in _OTHERS)
        dual = self._solve_in_place(options) if by_data else None
        if dual is None:
            self._solve_anew(options)
        self.bound = float(self.problem.value)
        if dual is not None and np.isfinite(dual):
            self.bound = max(self.bound, self.bound + dual)

    def _solve_anew(self, options: Mapping[str, Any]) -> None:
        self.compilations += 1
        again = cp.Problem(self.problem.objective, self.problem.constraints)
        again.solve(**{"solver": cp.CLARABEL, **options})
        self.problem.unpack(again.solution)
        self.problem._solver_stats = again.solver_stats  # noqa: SLF001 -- the only hook there is

    def _solve_in_place(self, options: Mapping[str, Any]) -> float | None:
        """Return how far the dual value lies above the primal one.

        None where the pieces were not found.
        """
        of_solver = {name: value for name, value in options.items() if name not in _KEPT}
        numbers = [(constant, constant.value.copy()) for one in self._pieces for constant in (one.slopes, one.offsets)]
        for constant, _ in numbers:
            constant.value[:] = 1.0  # what is 0 would be left out of A
        data, chain, inverse = self.problem.get_problem_data(cp.CLARABEL, solver_opts=of_solver)
        for constant, value in numbers:
            constant.value[:] = value
        A = data["A"]
        if chain is not self._chain:
            self._chain, self._places = chain, _places(A, data["param_prob"].var_id_to_col, self._pieces)
            self.compilations += 1
        if self._places is None:
            return None
        for pieces, place in zip(self._pieces, self._places, strict=True):
            A.data[place.slopes] = pieces.slopes.value
            data["b"][place.rows] = -pieces.offsets.value
        warm, verbose = options.get("warm_start", False), options.get("verbose", False)
        found = chain.solve_via_data(self.problem, data, warm, verbose, of_solver)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # its status says so
            self.problem.unpack_results(found, chain, inverse)
        return float(found.obj_val - found.obj_val_dual)  # cvxpy minimises the negative


def _places(A: sparse.csc_array, columns: Mapping[int, int], every: Sequence[Pieces]) -> list[_Place] | None:
    """Find the rows of all pieces; None where any of them do not look as they should."""
    entries = A.tocoo()
    where = sparse.csr_array((np.arange(A.nnz) + 1, (entries.row, entries.col)), shape=A.shape)
    length = np.diff(where.indptr)
    found = []
    for pieces in every:
        first = columns.get(pieces.cost.id)
        if first is None:
            return None
        of_cost = (entries.col >= first) & (entries.col < first + pieces.size)
        rows = np.sort(entries.row[of_cost & (entries.data == -1.0)])
        if rows.size != pieces.rows or np.any(length[rows] != 2):
            return None
        pair = where.indptr[rows][:, None] + np.arange(2)
        column = where.indices[pair]
        is_cost = (column >= first) & (column < first + pieces.size)
        if np.any(is_cost.sum(axis=1) != 1) or np.any(column[is_cost] - first != pieces.owner):
            return None
        found.append(_Place((where.data[pair[~is_cost]] - 1).astype(np.intp), rows.astype(np.intp)))
    return found
