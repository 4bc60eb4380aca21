"""The market: who sells, what each requires, and the law of her valuation."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt._html_table import html_table
from smqopt.errors import InputError, check_kind, nearest, nearest_column
from smqopt.files import hash_parts, read_csv
from smqopt.market._columns import (
    by_owner,
    check_ids,
    check_units,
    counts,
    group_columns,
    labels_of_group,
    owners_of,
    requirements,
    rows_of,
)
from smqopt.market._numbers import numbers
from smqopt.numeric import Floats, FrozenDict, as_names, exact_dot, frame_columns, names_of
from smqopt.valuation import Valuation, match_owners, sketch, validate_foreign

_KEPT_COUNTS = 1 << 17
"""The text of so many multiplicities is kept: markets at many μ share theirs."""


class Market:
    """n owners with public privacy requirements and private valuations of known law.

    Immutable.

    Parameters
    ----------
    epsilon
        Privacy requirements ε_i ≥ 0, shape (n,), n ≥ 1. A mapping or a series with an index of
        names states the owners' ids too.
    valuation
        The law of valuations: common, or one an owner (its size must then be n). Parameters that
        came with names are matched by the owners' ids, too.
    owner_ids
        n distinct names; the numbers 1 … n by default.
    groups
        Named labellings of the owners, each of shape (n,), or a frame of them. These, like
        multiplicities, are matched by the owners' ids where they come with names.
    multiplicity
        How many alike owners each row stands for: whole numbers ≥ 1, shape (n,); 1 by default.

    Raises
    ------
    InputError
        If a requirement is negative, NaN or infinite, the market is empty, shapes differ, or ids
        repeat.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])
    >>> market.n, market.owner_ids[2], market.most_that_can_be_spent
    (3, 'cy', 3.0)
    """

    def __init__(
        self,
        epsilon: ArrayLike,
        valuation: Valuation,
        *,
        owner_ids: Sequence[object] | NDArray[Any] | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        multiplicity: ArrayLike | None = None,
    ) -> None:
        where = "market: argument 'epsilon'"
        rows = rows_of(owner_ids, epsilon)
        names = owner_ids
        if names is None and not isinstance(named := names_of(epsilon, where), range):
            names = named
        ids = self._ids = None if names is None else as_names(names, "market: argument 'owner_ids'")
        self.epsilon: Floats = requirements(by_owner(epsilon, ids, rows, where), ids)
        check_kind(valuation, Valuation, "market: argument 'valuation'", "a law")
        validate_foreign(valuation)
        if valuation.size not in (None, self.n):
            raise InputError(
                "market: argument 'valuation'",
                f"must be a common law or have one law for each of the {self.n} owners",
                value=valuation.size,
                remedy="give arrays of shape (n,)",
            )
        self.valuation = match_owners(valuation, lambda names: owners_of(names, ids, rows))
        check_units(float(np.max(self.epsilon)), float(np.max(self.valuation.high)))
        if self._ids is not None:
            check_ids(self._ids, self.n)
            if self._ids == tuple(str(i + 1) for i in range(self.n)):
                self._ids = None  # the default names, so that a table written and read again is the same market
        repeats = by_owner(multiplicity, ids, rows, "market: argument 'multiplicity'")
        self.multiplicity: NDArray[np.int64] | None = None if repeats is None else counts(repeats, self.n)
        self.groups: Mapping[str, NDArray[Any]] = FrozenDict(
            {name: labels_of_group(name, labels, ids, rows, self.n) for name, labels in group_columns(groups).items()}
        )
        self._rows_of_group: dict[str, Mapping[str, NDArray[np.intp]]] = {}
        self.fingerprint: str = self.content_hash()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the place of a market that was pickled or copied.

        Its arrays are read-only again.
        """
        vars(self).update(state)
        for array in (self.epsilon, self.multiplicity, *self.groups.values()):
            if array is not None:
                array.flags.writeable = False

    # --- ways in ----------------------------------------------------------------------------------

    @classmethod
    def from_table(
        cls,
        table: Any,
        valuation: Valuation,
        *,
        epsilon: str = "epsilon",
        owner_id: str | None = None,
        groups: Iterable[str] = (),
        multiplicity: str | None = None,
    ) -> Self:
        """Make a market from the columns of a table.

        Parameters
        ----------
        table
            A path to a CSV file, a mapping of columns, or a data frame (anything with `columns` and
            `[name]`).
        valuation
            The law of valuations.
        epsilon, owner_id, groups, multiplicity
            Names of columns.

        Raises
        ------
        InputError
            If a column is missing or holds a bad value; names the row.
        """
        is_path = isinstance(table, str) or hasattr(table, "__fspath__")
        where = str(table) if is_path else "table"
        columns: Any = read_csv(table) if is_path else table
        if not isinstance(columns, Mapping) and (columns := frame_columns(columns)) is None:
            kind = type(table).__name__
            raise InputError(where, "must be a path, a mapping or a frame", value=kind, remedy="collect it first")

        def column(name: str) -> Any:
            if name not in columns:
                raise InputError(f"{where}: column {name!r}", "is missing", remedy=nearest_column(name, columns))
            return columns[name]

        index = names_of(column(epsilon), where)
        return cls(
            numbers(column(epsilon), f"{where}: column {epsilon!r}"),
            valuation,
            owner_ids=column(owner_id) if owner_id is not None else index if isinstance(index, list) else None,
            groups={name: column(name) for name in groups},
            multiplicity=None
            if multiplicity is None
            else numbers(column(multiplicity), f"{where}: column {multiplicity!r}"),
        )

    # --- what it says -----------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.epsilon.size)

    @property
    def population(self) -> int:
        """The number of owners: rows counted with their multiplicity."""
        return self.n if self.multiplicity is None else int(self.multiplicity.sum())

    @property
    def weights(self) -> Floats:
        """How many owners each row stands for, shape (n,).

        Read-only, and no memory where all are one.
        """
        return np.broadcast_to(1.0, (self.n,)) if self.multiplicity is None else self.multiplicity.astype(np.float64)

    @property
    def owner_ids(self) -> tuple[str, ...]:
        """The owners' names, one a row."""
        return tuple(str(i + 1) for i in range(self.n)) if self._ids is None else self._ids

    @property
    def low(self) -> Floats:
        """The low ends of the supports, shape (n,), in currency."""
        return np.broadcast_to(np.asarray(self.valuation.low, dtype=np.float64), (self.n,))

    @property
    def high(self) -> Floats:
        """The high ends of the supports, shape (n,), in currency."""
        return np.broadcast_to(np.asarray(self.valuation.high, dtype=np.float64), (self.n,))

    @property
    def most_that_can_be_spent(self) -> float:
        """Σ θ̄_i over the owners with ε_i > 0, rounded up, in currency.

        From here on the budget is slack (errata E3).
        """
        if self.valuation.size is None:
            counts = self.multiplicity
            owners = int(np.count_nonzero(self.epsilon) if counts is None else counts[self.epsilon > 0].sum())
            return exact_dot(np.array([float(self.valuation.high)]), np.array([float(owners)]), up=True)
        return exact_dot(self.high, np.where(self.epsilon > 0, self.weights, 0.0), up=True)

    def rows_of_group(self, column: str) -> Mapping[str, NDArray[np.intp]]:
        """Return the rows of each label of a group column, by its text; increasing.

        Sorted once for each column.

        Raises
        ------
        InputError
            If the market has no such column.
        """
        if column not in self._rows_of_group:
            if column not in self.groups:
                known = nearest(column, self.groups) if self.groups else 'give Market(..., groups={"city": labels})'
                raise InputError(f"market: group {column!r}", "is not a column of groups", remedy=known)
            values, number = np.unique(self.groups[column], return_inverse=True)
            order = np.argsort(number, kind="stable").astype(np.intp)
            ends = np.cumsum(np.bincount(number, minlength=values.size))
            rows: dict[str, NDArray[np.intp]] = {}
            for value, of_value in zip(values.tolist(), np.split(order, ends[:-1]), strict=True):
                text = str(value)
                rows[text] = of_value if text not in rows else np.sort(np.concatenate([rows[text], of_value]))
            self._rows_of_group[column] = FrozenDict(rows)
        return self._rows_of_group[column]

    def expand(self) -> Market:
        """Return the same market with one row an owner.

        Alike owners are named `id#1`, `id#2` and so on.
        """
        if self.multiplicity is None:
            return self
        rows = np.repeat(np.arange(self.n, dtype=np.intp), self.multiplicity)
        ids = self.owner_ids
        names = [f"{ids[row]}#{k + 1}" for row, count in enumerate(self.multiplicity.tolist()) for k in range(count)]
        return Market(
            self.epsilon[rows],
            self.valuation.take(rows),
            owner_ids=names,
            groups={name: labels[rows] for name, labels in self.groups.items()},
        )

    def content_hash(self) -> str:
        """Hash all that a certificate speaks of.

        Requirements, law, ids, multiplicities and groups (SHA-256).
        """
        counts = b"null" if self.multiplicity is None else _text_of_counts(self.multiplicity)
        named = [(name, [str(label) for label in labels.tolist()]) for name, labels in self.groups.items()]
        law = json.dumps(self.valuation.to_dict(), sort_keys=True, allow_nan=False).encode()
        ids, *labels = (json.dumps(part).encode() for part in (self._ids, *(part for pair in named for part in pair)))
        own = self.epsilon.data.cast("B")
        return hash_parts(b"smqopt market 2", own, law, sketch(self.valuation), ids, counts, *labels)

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        rows = [
            ("rows", self.n),
            ("owners", self.population),
            ("law", repr(self.valuation)),
            ("Σ ε", float(self.weights @ self.epsilon)),
            ("most that can be spent", self.most_that_can_be_spent),
            ("groups", ", ".join(map(str, self.groups)) or "none"),
        ]
        return html_table("Market", rows)

    def __repr__(self) -> str:
        return f"Market({self.n} rows, {self.population} owners, {self.valuation!r})"


def _text_of_counts(counts: NDArray[np.int64]) -> bytes:
    """Return whole numbers as JSON."""
    return _kept_text(counts.tobytes()) if counts.size <= _KEPT_COUNTS else json.dumps(counts.tolist()).encode()


@functools.lru_cache(maxsize=1)
def _kept_text(raw: bytes) -> bytes:
    return json.dumps(np.frombuffer(raw, np.int64).tolist()).encode()
