"""Rows of a file a few at a time, whatever row groups they lie in."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from smqopt.errors import InputError
from smqopt.scale.parts._row_groups import PartFile


class RowReader:
    """Gives the next rows of a file."""

    def __init__(self, file: PartFile) -> None:
        self._groups: Iterator[tuple[str, pa.Table]] = file.groups()
        self.where = str(file.path)
        self._left: list[pa.Table] = []

    def take(self, rows: int) -> pa.Table:
        """Return the next rows, at least one.

        Raises
        ------
        InputError
            If there are not so many.
        """
        while sum(table.num_rows for table in self._left) < rows:
            found = next(self._groups, None)
            if found is None:
                raise InputError(self.where, "ends too early", remedy="write one row an owner, in their order")
            self._left.append(found[1])
        whole = pa.concat_tables(self._left)
        self._left = [whole.slice(rows)] if whole.num_rows > rows else []
        return whole.slice(0, rows)

    def end(self) -> None:
        """Refuse rows that are left.

        Raises
        ------
        InputError
            If there are any.
        """
        if self._left or next(self._groups, None) is not None:
            raise InputError(self.where, "has more rows than its owners", remedy="write one row an owner")
