"""Constraints that share own variables, as one cone constraint G x ∈ K."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
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
    keep: Callable[[Floats, Floats], None]
    """Leaves values in the user's own variables, from (q, β, u) and multipliers."""


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
    A, n = sparse.csc_array(data["A"]), program.market.n
    first = [data["param_prob"].var_id_to_col[copy.id] for copy in program.problem.copies]
    q, b = (start + np.arange(n) for start in first)
    rest = np.setdiff1d(np.arange(A.shape[1]), np.concatenate([q, b]))
    order = np.argsort(np.concatenate([q, b, rest]))

    def keep(x: Floats, z: Floats) -> None:
        answer = SimpleNamespace(status="Solved", x=x[order], z=z, obj_val=0.0, solve_time=0.0, iterations=0)
        problem.unpack_results(answer, chain, inverse)

    return Sharing(
        constraints=tuple(group),
        texts=tuple(words_of(constraint) for constraint in group),
        of_acceptance=A[:, q],
        of_spend=A[:, b],
        of_others=A[:, rest],
        constant=np.asarray(data["b"], dtype=np.float64),
        dims=data["dims"],
        keep=keep,
    )
