"""The `[[constraint]]` tables of a model file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from smqopt.errors import InputError, SolverError
from smqopt.market import ConstraintRecord, Market, Solution, Status, constraint_from_dict, state
from smqopt.model_files.toml._place import TomlTable


def read_constraints(top: TomlTable) -> tuple[ConstraintRecord, ...]:
    """Read the tables as records; none where there is no table.

    Raises
    ------
    InputError
        Naming the file, the line and the key.
    """
    records = []
    for table in _tables(top):
        with table.locate_errors():
            records.append(constraint_from_dict(table.content, table.header))
    return tuple(records)


@contextlib.contextmanager
def locate_constraints(top: TomlTable, market: Market, records: tuple[ConstraintRecord, ...]) -> Iterator[None]:
    """Put the line of the constraint at fault before an error of the solver.

    Parameters
    ----------
    top
        The model file.
    market
        The market that is solved.
    records
        The records of the file's constraints, in its order.
    """
    try:
        with top.locate_errors():
            yield
    except InputError:
        for table, record in zip(_tables(top), records, strict=True):
            with table.locate_errors():
                state(market, (record,))
        raise


def require_feasible(solution: Solution) -> None:
    """Refuse to go on where no thresholds satisfy all constraints.

    Raises
    ------
    SolverError
        Naming constraints that cannot hold together.
    """
    if solution.status is Status.INFEASIBLE:
        raise SolverError(
            "constraints",
            f"{solution.status}: these cannot hold together, and could if any one of them went",
            value="; ".join(solution.conflict),
            remedy="relax one of them",
        )


def _tables(top: TomlTable) -> list[TomlTable]:
    return [top.table("constraint", row) for row in range(len(top.content.get("constraint", ())))]
