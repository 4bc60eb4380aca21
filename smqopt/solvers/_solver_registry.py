"""The routes by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from smqopt.errors import InputError, nearest
from smqopt.solvers._abstract_solver import AbstractSolver
from smqopt.solvers.conic._conic_solver import ConicSolver
from smqopt.solvers.price_search._dual_solver import DualSolver
from smqopt.solvers.structured._structured_solver import StructuredSolver

SOLVERS: Mapping[str, type[AbstractSolver]] = MappingProxyType(
    {route.name: route for route in (DualSolver, ConicSolver, StructuredSolver)}
)


def chosen_solver(solver: str | AbstractSolver, options: Mapping[str, Any]) -> AbstractSolver:
    """Make the route of a name with options; a route that is given stays as it is.

    Unknown routes and options are refused.
    """
    if isinstance(solver, AbstractSolver):
        known: frozenset[str] | None = frozenset()
        remedy = "give it to the solver when it is made"
    elif isinstance(solver, str) and solver in SOLVERS:
        known, remedy = SOLVERS[solver].options, 'drop it, or use solver="conic"'
    else:
        raise InputError(
            "solve: argument 'solver'", "is unknown", value=solver, remedy=nearest(str(solver), tuple(SOLVERS))
        )
    unknown = [] if known is None else sorted(set(options) - known)
    if unknown:
        name = solver if isinstance(solver, str) else solver.name
        raise InputError(f"solve: argument {unknown[0]!r}", f"is not known to the {name} solver", remedy=remedy)
    if not isinstance(lotteries := options.get("lotteries", True), bool):
        raise InputError("solve: argument 'lotteries'", "must be True or False", value=lotteries, remedy="say which")
    return solver if isinstance(solver, AbstractSolver) else SOLVERS[solver](**options)
