"""What every constraint record can say of itself: the rows, bounds and price rules it puts on a market."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.program.market import Market

__all__ = ["Bounds", "ConstraintRecord", "Row", "Rows", "checked_limit", "counts_of"]

Floats = NDArray[np.float64]

_MOST_SHOWN = 100
"""Labels that an error text looks through."""
Owners = NDArray[np.intp]


@dataclass(frozen=True)
class Row:
    """One linear inequality Σ a_i q_i + Σ s_i b_i ≤ at_most, over the rows of a market that it names; or the equation.

    Multiplicities are in the coefficients. Those of spend are ≥ 0: spend may be bounded from above alone, for a floor on it could be
    met by burning money.
    """

    name: str
    """The constraint in words, as the user knows it."""
    at_most: float
    equal: bool = False
    """Whether the row is an equation; its coefficients of spend are then none."""
    acceptance: tuple[Owners, Floats] = field(default_factory=lambda: (np.empty(0, dtype=np.intp), np.empty(0)))
    """Rows of the market and coefficients a; arrays of one length."""
    spend: tuple[Owners, Floats] = field(default_factory=lambda: (np.empty(0, dtype=np.intp), np.empty(0)))
    """Rows of the market and coefficients s ≥ 0; arrays of one length."""


Rows = Iterator[Row]


@dataclass(frozen=True)
class Bounds:
    """Bounds for some owners: of acceptance, or of the price; common to them, or one an owner."""

    name: str
    owners: Owners
    least: float | Floats
    most: float | Floats


@dataclass(frozen=True, kw_only=True)
class ConstraintRecord:
    """A constraint beyond OP2, as data.

    A record states itself by any of `rows` (linear inequalities over acceptance and spend), `acceptance_bounds`, `price_bounds`,
    `common_prices` and `price_list`; what it does not override says nothing.
    """

    kind: ClassVar[str]
    """What model files call the record."""

    name: str = ""
    """What the user calls it; by default its own words."""

    @property
    def words(self) -> str:
        """The constraint in words: its name if it has one."""
        return self.name or self.described()

    def described(self) -> str:
        """Say in words what the record demands."""
        raise NotImplementedError

    def rows(self, market: Market) -> Rows:
        """Give the linear inequalities."""
        yield from ()

    def acceptance_bounds(self, market: Market) -> Iterator[Bounds]:
        """Give bounds on the expected acceptance of single owners."""
        yield from ()

    def price_bounds(self, market: Market) -> Iterator[Bounds]:
        """Give bounds on the price of single owners, in currency."""
        yield from ()

    def common_prices(self, market: Market) -> NDArray[np.intp] | None:
        """Number the owners so that those with one number get one price; None where nothing is demanded. Shape (n,)."""
        return None

    def price_list(self, market: Market) -> tuple[Owners, Floats] | None:
        """Give the owners whose price must be on a list, and the list, increasing, in currency; None where nothing is demanded."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Give the record as data: what a model file's `[[constraint]]` table would say."""
        given = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        defaults = {entry.name: entry.default for entry in dataclasses.fields(self)}
        return {"kind": self.kind} | {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in given.items()
            if value != defaults[key]
        }

    def where(self, argument: str) -> str:
        """Say where in the record something is wrong."""
        return f"constraint {self.kind!r}: argument {argument!r}"

    def members(self, market: Market, column: str | None, label: object | None) -> Owners:
        """Give the owners who carry a label in a column of groups; all owners where no column is named.

        Raises
        ------
        InputError
            If the market has no such column, or nobody carries the label.
        """
        if column is None:
            return np.arange(market.n, dtype=np.intp)
        rows = market.rows_of_group(column)
        if str(label) not in rows:
            raise InputError(
                self.where("label"),
                f"must be a label of the group column {column!r}",
                value=label,
                remedy=nearest(str(label), list(rows)[:_MOST_SHOWN]),
            )
        return rows[str(label)]

    def checked_rows(self, market: Market, rows: Sequence[int], argument: str) -> Owners:
        """Give rows of a market as an array.

        Raises
        ------
        InputError
            If a row is not in the market.
        """
        owners = np.array(rows, dtype=np.intp)
        outside = owners[(owners < 0) | (owners >= market.n)]
        if outside.size:
            raise InputError(
                self.where(argument),
                f"must name rows 0 to {market.n - 1} of the market",
                value=int(outside[0]),
                remedy="count from 0",
            )
        return owners


def counts_of(market: Market) -> Floats:
    """Give how many owners each row stands for, shape (n,)."""
    return np.ones(market.n) if market.multiplicity is None else market.multiplicity.astype(np.float64)


def checked_limit(value: object, where: str, *, most: float = np.inf) -> float:
    """Check a limit: a finite number from 0 to `most`.

    Raises
    ------
    InputError
        If it is anything else.
    """
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not 0 <= float(value) <= most or float(value) == np.inf:  # type: ignore[arg-type]
        span = "a finite number ≥ 0" if most == np.inf else f"a number from 0 to {most:g}"
        raise InputError(where, f"must be {span}", value=value, remedy="mend the limit")
    return float(value)  # type: ignore[arg-type]
