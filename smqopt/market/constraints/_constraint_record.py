"""What every constraint record can say of itself.

The rows, bounds and price rules it puts on a market.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, check_kind, nearest
from smqopt.market._group import check_group, members, words
from smqopt.market._market import Market
from smqopt.numeric import Floats, Indices

_LONGEST_SHOWN = 60
_LARGEST_NUMBER = 1e100
"""Of a row: the dual multiplies three of them."""


@dataclass(frozen=True)
class Row:
    """One linear inequality Σ a_i q_i + Σ s_i b_i ≤ at_most, or the equation.

    Over the rows of a market that it names.

    Multiplicities are in the coefficients. Where a row asks for more spend, by a coefficient below
    0 or as an equation, a higher price must be posted, and the highest one be stated.
    """

    name: str
    """The constraint in words, as the user knows it."""
    at_most: float
    equal: bool = False
    """Whether the row is an equation."""
    acceptance: tuple[Indices, Floats] = field(default_factory=lambda: (np.empty(0, dtype=np.intp), np.empty(0)))
    """Rows of the market and coefficients a; arrays of one length."""
    spend: tuple[Indices, Floats] = field(default_factory=lambda: (np.empty(0, dtype=np.intp), np.empty(0)))
    """Rows of the market and coefficients s; arrays of one length."""
    rounded: bool = False
    """Whether the coefficients are quotients rounded to nearest, not the numbers that the record
    means."""

    @property
    def owners(self) -> Indices:
        """The rows of the market that have a coefficient other than 0."""
        return np.unique(np.concatenate([rows[values != 0] for rows, values in (self.acceptance, self.spend)]))

    @property
    def raised(self) -> Indices:
        """The owners of whom the row may ask for more spend."""
        owners, s = self.spend
        return owners[s != 0] if self.equal else owners[s < 0]

    @property
    def leaves_nothing(self) -> bool:
        """Whether it holds only where those whom it names sell for nothing or not at all.

        Its multiplier would be infinite, as that of a budget of 0.
        """
        return (
            self.at_most == 0
            and not self.equal
            and all(np.all(values >= 0) for _, values in (self.acceptance, self.spend))
        )

    @property
    def sells_surely(self) -> Indices | None:
        """The owners who must sell for sure; None where the row does not demand it.

        Its other owners then get no offer.
        """
        owners, a = self.acceptance
        for sign in (-1.0, 1.0) if self.equal else (-1.0,):
            surely = sign * a > 0
            if surely.any() and not self.rounded and math.fsum(a[surely]) == self.at_most and not self.spend[0].size:
                exact = sum(map(Fraction, a[surely].tolist()), Fraction(0))
                return owners[surely] if exact == Fraction(self.at_most) else None
        return None

    def require_moderate(self) -> None:
        """Refuse numbers whose products would leave the doubles."""
        numbers = np.concatenate([[self.at_most], self.acceptance[1], self.spend[1]])
        sizes = np.abs(numbers[numbers != 0])
        outside = sizes[(sizes > _LARGEST_NUMBER) | (sizes < 1 / _LARGEST_NUMBER)]
        if outside.size:
            raise InputError(
                f"constraint {self.name!r}",
                f"must have numbers up to {_LARGEST_NUMBER:g}, and of {1 / _LARGEST_NUMBER:g} at least or 0",
                value=float(outside[0]),
                remedy="divide both sides by one number",
            )

    def without_terms(self) -> Row:
        """Return the inequality 0 ≤ 0, of the same name."""
        return Row(self.name, 0.0)


Rows = Iterator[Row]


@dataclass(frozen=True)
class Bounds:
    """Bounds for some owners: of acceptance, or of the price.

    Common to them, or one an owner.
    """

    name: str
    owners: Indices
    least: float | Floats
    most: float | Floats


@dataclass(frozen=True, kw_only=True)
class ConstraintRecord:
    """A constraint beyond OP2, as data.

    A record states itself by any of `rows` (linear inequalities over acceptance and spend),
    `acceptance_bounds`, `price_bounds`, `common_prices` and `price_list`; what it does not override
    says nothing.
    """

    kind: ClassVar[str]
    """What model files call the record."""
    by_word: ClassVar[bool] = False
    """Whether it rests on a solver's word, so that nothing that follows from it is proved."""
    read_from_prices: ClassVar[bool] = False
    """Whether what its rows say is worked out from the posted prices anew, however a solver keeps
    them."""

    name: str = ""
    """What the user calls it; by default its own words."""

    def __post_init__(self) -> None:
        """Check what every record may have: a name, and a group by its column and label."""
        given = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        for key, value in given.items():
            if isinstance(value, np.generic):  # numbers as files hold them
                object.__setattr__(self, key, value.item())
        if not isinstance(self.name, str):
            raise InputError(self.where("name"), "must be text", value=repr(self.name), remedy="write it in quotes")
        if "column" in given and "label" in given:
            needed = next(e for e in dataclasses.fields(self) if e.name == "column").default is dataclasses.MISSING
            group = check_group(given["column"], given["label"], f"constraint {self.kind!r}", needed=needed)
            for name, value in zip(("column", "label"), group, strict=True):
                object.__setattr__(self, name, value)
        elif "column" in given and not isinstance(given["column"], str):
            raise InputError(
                self.where("column"),
                "must name a column of groups",
                value=repr(given["column"]),
                remedy="write it in quotes",
            )

    @property
    def words(self) -> str:
        """The constraint in words: its name if it has one."""
        return self.name or self.describe()

    @property
    def recorded(self) -> tuple[str, ...]:
        """Which of a solution's `constraints`, in words, it records."""
        return (self.words,)

    @classmethod
    def check_together(cls, records: Sequence[Any]) -> None:
        """Refuse records of this kind that contradict one another."""

    def describe(self) -> str:
        """Say in words what the record demands."""
        raise NotImplementedError

    def rows(self, market: Market) -> Rows:
        """Return the linear inequalities."""
        yield from ()

    def acceptance_bounds(self, market: Market) -> Iterator[Bounds]:
        """Return bounds on the expected acceptance of single owners."""
        yield from ()

    def price_bounds(self, market: Market) -> Iterator[Bounds]:
        """Return bounds on the price of single owners, in currency."""
        yield from ()

    def common_prices(self, market: Market) -> NDArray[np.intp] | None:
        """Number the owners so that those with one number get one price.

        None where nothing is demanded. Shape (n,).
        """
        return None

    def stand_ins(self) -> Indices:
        """Return rows of the market that are no owners, but numbers of a program's own."""
        return np.zeros(0, dtype=np.intp)

    def drawn_prices(self) -> Indices:
        """Return rows whose offers are shares of posted prices, whatever their laws."""
        return np.zeros(0, dtype=np.intp)

    def price_list(self, market: Market) -> tuple[Indices, Floats] | None:
        """Return owners whose price must be on a list, and the list; else None.

        The list increases, in currency.
        """
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the record as data: what a model file's `[[constraint]]` table would say."""
        given = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        defaults = {entry.name: entry.default for entry in dataclasses.fields(self)}
        return {"kind": self.kind} | {key: _as_data(value) for key, value in given.items() if value != defaults[key]}

    @property
    def of_whom(self) -> str:
        """The group in words, to stand behind a noun; nothing where it is all owners."""
        column = getattr(self, "column", None)
        return "" if column is None else f" of {words(column, getattr(self, 'label', None))}"

    def set_list(self, argument: str) -> None:
        """Take a list as a tuple.

        Raises
        ------
        InputError
            If it is no list.
        """
        given: Any = getattr(self, argument)
        if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)) or getattr(given, "ndim", 1) == 0:
            raise InputError(self.where(argument), "must be a list", value=shorten(given), remedy="put it in brackets")
        object.__setattr__(self, argument, tuple(given))

    def set_pairs(self, argument: str, least: float = -np.inf, rule: str = "must be finite") -> None:
        """Take pairs (row, number) as such; a row may go by its owner's name.

        Raises
        ------
        InputError
            If they are no such pairs, or a number is not finite or below `least`.
        """
        try:
            rows, numbers = zip(*pairs, strict=True) if (pairs := tuple(getattr(self, argument))) else ((), ())
            values = np.array(numbers, dtype=np.float64)
            whole = all(isinstance(row, (int, np.integer, str)) and not isinstance(row, bool) for row in rows)
        except (TypeError, ValueError, OverflowError):
            whole = False
        if not whole or values.ndim != 1:
            raise InputError(
                self.where(argument),
                "must hold pairs of a row, counted from 0 or by its owner's name, and a number",
                value=shorten(getattr(self, argument)),
                remedy="give, say, [(0, 1.0), (3, 2.5)]",
            )
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= least)))
        if bad.size:
            raise InputError(
                f"{self.where(argument)}, row {rows[bad[0]]}",
                rule,
                value=float(values[bad[0]]),
                remedy="correct or drop the pair",
            )
        named = [str(row) if isinstance(row, str) else int(row) for row in rows]
        object.__setattr__(self, argument, tuple(zip(named, values.tolist(), strict=True)))

    def where(self, argument: str) -> str:
        """Say where in the record something is wrong."""
        return f"constraint {self.kind!r}: argument {argument!r}"

    def members(self, market: Market) -> Indices:
        """Return the rows of the market that the record speaks of.

        All where no group is named.

        Raises
        ------
        InputError
            If the market has no such group.
        """
        column, label = getattr(self, "column", None), getattr(self, "label", None)
        return members(market, column, label, f"constraint {self.name or self.kind!r}")

    def checked_rows(self, market: Market, rows: Sequence[int | str], argument: str) -> Indices:
        """Return rows of a market as an array, those by name too.

        Raises
        ------
        InputError
            If a row is not in the market.
        """
        names = [row for row in rows if isinstance(row, str)]
        place = {name: k for k, name in enumerate(market.owner_ids)} if names else {}
        for name in names:
            if name not in place:
                raise InputError(
                    self.where(argument),
                    "must name owners of the market",
                    value=name,
                    remedy=nearest(name, list(place)),
                )
        owners = [place[row] if isinstance(row, str) else row for row in rows]
        outside = [row for row in owners if not 0 <= row < market.n]
        if outside:
            raise InputError(
                self.where(argument),
                f"must name rows 0 to {market.n - 1} of the market",
                value=shorten(outside[0]),
                remedy="count from 0",
            )
        return np.array(owners, dtype=np.intp)


def _as_data(value: Any) -> Any:
    """Return a value as files hold it: lists for tuples, and plain tables."""
    if isinstance(value, Mapping):
        return {key: _as_data(entry) for key, entry in value.items()}
    return [_as_data(entry) for entry in value] if isinstance(value, tuple) else value


def checked_limit(value: object, where: str, *, least: float = 0.0, most: float = np.inf) -> float:
    """Check a limit: a finite number from `least` to `most`.

    Raises
    ------
    InputError
        If it is anything else.
    """
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond the doubles
            number = np.inf
        if least <= number <= most and np.isfinite(number):
            return number
    span = "" if least == -np.inf else f" ≥ {least:g}" if most == np.inf else f" from {least:g} to {most:g}"
    raise InputError(where, f"must be a finite number{span}", value=shorten(value), remedy="correct the limit")


def shorten(value: object) -> str:
    """Show a value in an error text, not all of a long one."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def check_records(records: object) -> None:
    """Require a list of constraint records.

    Raises
    ------
    InputError
        If it is no list, an entry is no record, or some contradict one another.
    """
    if isinstance(records, ConstraintRecord) or not isinstance(records, Sequence):
        raise InputError(
            "argument 'constraints'",
            "must be a list of constraint records",
            value=type(records).__name__,
            remedy="put it in brackets, as in constraints=[smq.Coverage(...)]",
        )
    for number, record in enumerate(records, 1):
        check_kind(
            record,
            ConstraintRecord,
            f"constraint {number}",
            "a constraint record",
            "use, say, Coverage, or extend a Program with cvxpy constraints",
        )
    for kind in dict.fromkeys(type(record) for record in records):
        kind.check_together([record for record in records if type(record) is kind])
