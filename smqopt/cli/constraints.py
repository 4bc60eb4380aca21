"""The `[[constraint]]` tables of a model file, and what is said where they cannot hold together."""

from __future__ import annotations

import re
from pathlib import Path

from smqopt.cli.located import located
from smqopt.cli.toml_table import TomlTable
from smqopt.errors import SolverError
from smqopt.program.constraints.record import ConstraintRecord
from smqopt.program.constraints.registry import constraint_from_dict
from smqopt.program.solution import Solution
from smqopt.program.status import Status

__all__ = ["read_constraints", "require_feasible"]

_HEADER = re.compile(r"^\s*\[\[\s*[\"']?constraint[\"']?\s*\]\]")


def read_constraints(top: TomlTable) -> tuple[ConstraintRecord, ...]:
    """Read the tables as records; none where there is no table.

    Raises
    ------
    InputError
        Naming the file, the line of the table where it has one, and the key.
    """
    tables = top.tables("constraint") if "constraint" in top else ()
    lines = _lines(top.path)
    records = []
    for number, table in enumerate(tables):
        line = f" line {lines[number]}" if len(lines) == len(tables) else ""
        where = f"{top.path}{line}: [[constraint]] {number + 1}"
        with located(where):
            records.append(constraint_from_dict(table.content, where))
    return tuple(records)


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
            value="; ".join(solution.blame),
            remedy="relax one of them",
        )


def _lines(path: Path) -> list[int]:
    """Give the lines at which the tables start."""
    text = path.read_text(encoding="utf-8")
    return [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
