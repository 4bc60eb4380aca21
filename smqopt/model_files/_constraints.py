"""The `[[constraint]]` tables of a model file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from smqopt.errors import InputError, SolverError, nearest
from smqopt.market import (
    ConstraintRecord,
    Coverage,
    Market,
    PurchasedPrivacy,
    Solution,
    Status,
    check_records,
    constraint_from_dict,
    expansion_of,
    state,
)
from smqopt.model_files.toml._place import TomlTable

QUOTAS = "quotas"
"""The kind of a table whose records stand in a CSV file, one a row: see `Coverage.from_table`."""


def read_constraints(top: TomlTable) -> tuple[ConstraintRecord, ...]:
    """Read the tables as records; none where there is no table.

    Raises
    ------
    InputError
        Naming the file, the line and the key.
    """
    read: list[ConstraintRecord] = []
    for table, records in _by_table(top):
        read += records
        with table.locate_errors():
            check_records(read)
    return tuple(read)


@contextlib.contextmanager
def locate_constraints(top: TomlTable, market: Market) -> Iterator[None]:
    """Put the line of the constraint at fault before an error of the solver.

    Parameters
    ----------
    top
        The model file.
    market
        The market that is solved.
    """
    try:
        with top.locate_errors():
            yield
    except InputError:
        for table, of_table in _by_table(top):
            with table.locate_errors():
                for record in of_table:
                    e = expansion_of(market, 0.0, (record,), PurchasedPrivacy())
                    state(*((market, (record,)) if e is None else (e.market, e.records)))
        raise


def require_feasible(solution: Solution, top: TomlTable) -> None:
    """Refuse to go on where no thresholds satisfy all constraints.

    Raises
    ------
    SolverError
        Naming constraints that cannot hold together, where they stand in the model file, and by how
        much each must be relaxed.
    """
    if solution.status is Status.INFEASIBLE:
        places = {
            record.words: f" ({table.file.place(table.keys)})"
            for table, records in _by_table(top)
            for record in records
        }
        needed = solution.details.get("relax_by", {})
        amounts = [f"{words!r} by {by:.6g} at least" for words, by in needed.items()]
        raise SolverError(
            "constraints",
            f"{solution.status}: these cannot hold together, and could if any one of them went",
            value="; ".join(words + places.get(words, "") for words in solution.conflict),
            remedy=", or ".join([f"relax one of them{': ' if amounts else ''}{''.join(amounts[:1])}", *amounts[1:]]),
        )


def _by_table(top: TomlTable) -> Iterator[tuple[TomlTable, tuple[ConstraintRecord, ...]]]:
    """Read each table: one record, or those of a table of quotas beside the file."""
    for row in range(len(top.content.get("constraint", ()))):
        table = top.table("constraint", row)
        with table.locate_errors():
            if table.content.get("kind") == QUOTAS:
                yield table, _quotas(table)
            else:
                yield table, (constraint_from_dict(table.content, table.header),)


def _quotas(table: TomlTable) -> tuple[ConstraintRecord, ...]:
    unknown = sorted(set(table.content) - {"kind", "table"})
    if unknown:
        raise InputError(
            f"{table.header}: key {unknown[0]!r}", "is unknown to 'quotas'", remedy=nearest(unknown[0], ["table"])
        )
    name = table.content.get("table")
    if not isinstance(name, str):
        raise InputError(
            f"{table.header}: key 'table'", "must name a CSV file", value=name, remedy='add table = "quotas.csv"'
        )
    return Coverage.from_table(table.path.parent / name)
