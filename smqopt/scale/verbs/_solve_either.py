"""`smq.solve`, of a market in memory or in parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from smqopt.market import ConstraintRecord, Market, Objective, Solution
from smqopt.scale.parts._parquet_market import ParquetMarket
from smqopt.scale.verbs._options import refuse_options, wrap_verb
from smqopt.solvers import solve as solve_in_memory

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.program import Program
    from smqopt.scale._solution import ParquetSolution
    from smqopt.scale.parts._cluster import Progress


_OF_PARTS = """\
A `ParquetMarket` is solved part by part. `client` is that of a Dask cluster, by default a pool of
processes here; `out` the folder of results, `NAME-solution` beside the owners by default, in which
a run that was stopped goes on; `progress` is called with how many parts of how many are done.
`constraints` are coverage, group budgets, parity and expected owners over columns of groups."""


@overload
def solve(
    problem: Market | Program,
    budget: float | None = None,
    *,
    solver: Any = None,
    objective: Objective | Callable[[Program], Any] | None = None,
    constraints: Sequence[ConstraintRecord] = (),
    **options: Any,
) -> Solution: ...


@overload
def solve(
    problem: ParquetMarket,
    budget: float,
    *,
    client: Client | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    constraints: Sequence[ConstraintRecord] = (),
) -> ParquetSolution: ...


@wrap_verb(solve_in_memory, _OF_PARTS)
def solve(problem: Any, budget: Any = None, **options: Any) -> Any:
    """Solve a market in memory, or in parts."""
    if not isinstance(problem, ParquetMarket):
        return solve_in_memory(problem, budget, **options)
    from smqopt.scale._solve import solve_parts  # noqa: PLC0415 -- loads pyarrow

    return solve_parts(
        problem, budget, **refuse_options("solve", options, ("client", "out", "progress", "constraints"))
    )
