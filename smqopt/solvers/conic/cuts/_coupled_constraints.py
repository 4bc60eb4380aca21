"""Constraints that share own variables, as one cone constraint G x ∈ K."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.numeric import Floats
from smqopt.program import Program, words_of


@dataclass(frozen=True, eq=False)
class Sharing:
    """Constraints of a user, compiled.

    b − A_q q − A_b β − A_u u ∈ K, with spend β in the solver's units, and u whatever else there is.
    """

    constraints: tuple[cp.Constraint, ...]
    texts: tuple[str, ...]
    of_acceptance: sparse.csc_array
    """A_q, shape (m, n)."""
    of_spend: sparse.csc_array
    """A_b, shape (m, n)."""
    of_others: sparse.csc_array
    """A_u, shape (m, number of other variables): the user's own, and those that cvxpy needs to
    state cones."""
    constant: Floats
    """b, shape (m,)."""
    dims: Any
    """K, as cvxpy's `ConeDims`."""
    has_own: bool
    """Whether there are variables of the user's own."""
    _problem: cp.Problem
    _chain: Any
    _inverse: Any
    _columns: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]

    def keep(self, q: Floats, spend: Floats, others: Floats, z: Floats) -> None:
        """Leave values in the user's own variables, from a point in the solver's units."""
        x = np.zeros(sum(columns.size for columns in self._columns))
        for columns, values in zip(self._columns, (q, spend, others), strict=True):
            x[columns] = values if columns.size == values.size else 0.0
        answer = SimpleNamespace(status="Solved", x=x, z=z, obj_val=0.0, solve_time=0.0, iterations=0)
        self._problem.unpack_results(answer, self._chain, self._inverse)


def sharings(program: Program, others: Sequence[cp.Constraint]) -> list[Sharing]:
    """Compile constraints, those that share variables of the user's own together.

    The problem of the program states them in copies.
    """
    return [_compile(program, group) for group in _groups(program, others)]


def _groups(program: Program, others: Sequence[cp.Constraint]) -> list[list[cp.Constraint]]:
    known = {program.acceptance.id, program.spend.id}
    groups: list[tuple[set[int], list[cp.Constraint]]] = []
    for constraint in others:
        names, members = {variable.id for variable in constraint.variables()} - known, [constraint]
        apart = []
        for theirs, group in groups:
            if theirs & names:
                names, members = names | theirs, group + members
            else:
                apart.append((theirs, group))
        groups = [*apart, (names, members)]
    return [members for _, members in groups]


def _compile(program: Program, group: Sequence[cp.Constraint]) -> Sharing:
    problem = program.problem.alone(group)
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts={})
    A, places = sparse.csc_array(data["A"]), data["param_prob"].var_id_to_col
    n = program.market.n
    mine = []
    for variable in program.problem.copies:
        first = places.get(variable.id)
        mine.append(np.empty(0, dtype=np.intp) if first is None else first + np.arange(n, dtype=np.intp))
    rest = np.setdiff1d(np.arange(A.shape[1], dtype=np.intp), np.concatenate(mine))
    of_acceptance, of_spend = (A[:, columns] if columns.size else sparse.csc_array((A.shape[0], n)) for columns in mine)
    known = {program.acceptance.id, program.spend.id}
    return Sharing(
        constraints=tuple(group),
        texts=tuple(words_of(constraint) for constraint in group),
        of_acceptance=sparse.csc_array(of_acceptance),
        of_spend=sparse.csc_array(of_spend),
        of_others=sparse.csc_array(A[:, rest]),
        constant=np.asarray(data["b"], dtype=np.float64),
        dims=data["dims"],
        has_own=any(variable.id not in known for one in group for variable in one.variables()),
        _problem=problem,
        _chain=chain,
        _inverse=inverse,
        _columns=(mine[0], mine[1], rest),
    )
