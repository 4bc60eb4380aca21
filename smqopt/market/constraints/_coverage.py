"""Coverage: enough owners of a group sell, in expectation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from smqopt.errors import InputError, nearest_column
from smqopt.files import read_csv
from smqopt.market._group import GroupColumn, Labels, are_exclusive
from smqopt.market._market import Market
from smqopt.market._numbers import numbers
from smqopt.market.constraints._constraint_record import (
    ConstraintRecord,
    Row,
    Rows,
    checked_limit,
)
from smqopt.market.constraints._sure_number import least_mean, tail_probability
from smqopt.numeric import Floats, frame_columns

_LIMITS = ("at_least", "share", "probability")


@dataclass(frozen=True)
class Coverage(ConstraintRecord):
    """At least so many owners of a group sell in expectation, or such a share.

    Σ_{i in group} m_i q_i ≥ at_least, or ≥ share · Σ_i m_i q_i.

    Parameters
    ----------
    column, label
        The group: owners whose label in the market's group column is `label`, or one of several.
        Or `column` alone: a mapping of columns to labels, all of which an owner must carry, or a
        mask, one boolean a row of the market.
    at_least
        Expected number of owners, ≥ 0.
    share
        Instead: their share of the expected number of all owners who sell, in [0, 1].
    probability
        With a whole `at_least`: so many are to sell with at least this probability, in (0, 1). What
        is solved and certified is a sufficient number of expected owners (Hoeffding, 1956, theorem
        5); `reach` returns the probability that a solution has.

    Raises
    ------
    InputError
        If a number is outside its range, both `at_least` and `share` are given or neither, or the
        group is named wrongly.

    Examples
    --------
    >>> Coverage("city", "Oslo", at_least=40).words
    'at least 40 expected owners of city = Oslo'
    >>> Coverage({"sex": "f", "age": ("30–39", "40–49")}, share=0.4).words
    'at least 40 % of the expected owners of sex = f and age = 30–39 or 40–49'
    """

    kind: ClassVar[str] = "coverage"

    column: GroupColumn
    label: Labels | None = None
    at_least: float | None = None
    share: float | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.at_least is None) == (self.share is None):
            given = "neither" if self.share is None else "both"
            raise InputError(
                self.where("at_least"), "or 'share' must be given, one of the two", value=given, remedy="choose one"
            )
        if self.share is not None:
            checked_limit(self.share, self.where("share"), most=1.0)
        else:
            checked_limit(self.at_least, self.where("at_least"))
        if self.probability is None:
            return
        where = self.where("probability")
        if not 0 < checked_limit(self.probability, where, most=1.0) < 1:
            raise InputError(where, "must lie inside (0, 1)", value=self.probability, remedy="give, say, 0.95")
        if self.at_least is None or not float(self.at_least).is_integer():
            raise InputError(where, "needs a whole number 'at_least'", value=self.at_least, remedy="round it up")

    @classmethod
    def check_together(cls, records: Sequence[Coverage]) -> None:
        """Refuse shares of exclusive groups that sum above 1.

        They would leave that nobody sells. A share is a rounded number: it counts as the next one
        below.

        Raises
        ------
        InputError
            Naming the records, the sum and by how much to lower it.
        """
        asked = [(Fraction(math.nextafter(one.share, 0.0)), one) for one in records if one.share]
        if sum(share for share, _ in asked) <= 1:
            return
        total, taken = Fraction(0), list[Coverage]()
        for share, record in sorted(asked, key=lambda each: -each[0]):
            group = record.column, record.label
            if all(are_exclusive(group, (other.column, other.label)) for other in taken):
                total, taken = total + share, [*taken, record]
            if total > 1:
                raise InputError(
                    f"constraint {cls.kind!r}: argument 'share'",
                    "must sum to at most 1 over groups that hold nobody in common, or nobody can sell",
                    value=f"{float(total):.12g}: {'; '.join(one.words for one in taken)}",
                    remedy=f"lower them by {float(total - 1):.6g} in all",
                )

    def describe(self) -> str:
        if self.share is not None:
            return f"at least {100 * self.share:g} % of the expected owners{self.of_whom}"
        if self.probability is not None:
            return f"at least {self.at_least:g} owners{self.of_whom} with probability {self.probability:g}"
        return f"at least {self.at_least:g} expected owners{self.of_whom}"

    def rows(self, market: Market) -> Rows:
        owners, weights = self.members(market), market.weights
        if self.share is not None:
            coefficients = self.share * weights
            coefficients[owners] = (self.share - 1.0) * weights[owners]
            yield Row(self.words, 0.0, acceptance=(np.arange(market.n), coefficients), rounded=True)
            return
        number = float(self.at_least or 0.0)
        if self.probability is not None:
            population = int(weights[owners].sum())
            if number > population:
                rule = f"must be at most the {population} owners of the group"
                raise InputError(self.where("at_least"), rule, value=number, remedy="ask for fewer, or of more labels")
            number = least_mean(int(number), population, self.probability)
        yield Row(self.words, -number, acceptance=(owners, -weights[owners]))

    def reach(self, market: Market, acceptance: Floats) -> float:
        """Compute the probability that at least `at_least` owners of the group sell.

        Under independent valuations; exact but for rounding (Poisson binomial law).

        Parameters
        ----------
        market
            One that has the group.
        acceptance
            Each owner's probability to sell, shape (n,): a solution's `acceptance`.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        InputError
            If the record has no number.
        """
        if self.at_least is None:
            raise InputError(self.where("at_least"), "must be given to have a probability", remedy="give a number")
        owners = self.members(market)
        counts = market.weights[owners].astype(np.intp)
        return tail_probability(acceptance[owners], counts, int(np.ceil(self.at_least)))

    @classmethod
    def from_table(cls, table: Any) -> tuple[Coverage, ...]:
        """Read quotas from a table, one row a stratum.

        Parameters
        ----------
        table
            A path to a CSV file, a mapping of columns, or a data frame. Columns named `at_least`,
            `share`, `probability` and `name` mean the arguments; an empty cell leaves one out. All
            other columns are group columns, an empty cell there stands for all labels.

        Returns
        -------
        tuple
            One record a row; of a file, its words name file and row.

        Raises
        ------
        InputError
            If there is no row, no column of limits or of groups, two rows have one stratum, or a
            row is wrong, naming the row; or shares of exclusive strata sum above 1.

        Examples
        --------
        >>> Coverage.from_table({"city": ["Oslo", "Bergen"], "at_least": [3, 2]})[1].words
        'at least 2 expected owners of city = Bergen'
        """
        where = str(table) if isinstance(table, str) or hasattr(table, "__fspath__") else "table"
        columns: Any = read_csv(table) if where != "table" else table
        if not isinstance(columns, Mapping) and (columns := frame_columns(columns)) is None:
            kind = type(table).__name__
            raise InputError(where, "must be a path, a mapping or a frame", value=kind, remedy="collect it first")
        groups = [name for name in columns if name not in (*_LIMITS, "name")]
        if not groups or not any(name in columns for name in _LIMITS[:2]):
            missing = nearest_column("at_least", columns) if groups else "add a column of labels"
            raise InputError(where, "must have columns of groups, and 'at_least' or 'share'", remedy=missing)
        records: list[Coverage] = []
        strata: dict[tuple[str, ...], int] = {}
        length = len(columns[groups[0]])
        for row in range(length):
            place = f"{where}: row {row + 1}"
            cells = {name: _cell(columns[name][row]) for name in columns}
            stratum = {name: _labels(cells[name]) for name in groups if cells[name] is not None}
            key = tuple(str(cells[name]) for name in groups)
            if key in strata:
                rule = f"must name a stratum of its own, row {strata[key]} has it"
                raise InputError(place, rule, value=", ".join(key), remedy="join the rows")
            strata[key] = row + 1
            limits: dict[str, Any] = {
                name: float(numbers([cells[name]], f"{place}: column {name!r}")[0])
                for name in _LIMITS
                if cells.get(name) is not None
            }
            try:
                one = cls(stratum, name=str(cells.get("name") or ""), **limits)
            except InputError as error:
                raise InputError(place, str(error)) from None
            from_file = f"{one.describe()} ({Path(where).name}, row {row + 1})" if where != "table" else ""
            records.append(dataclasses.replace(one, name=one.name or from_file))
        if not records:
            raise InputError(where, "must have a row", remedy="add a quota")
        try:
            cls.check_together(
                [dataclasses.replace(one, name=f"row {k}, {one.describe()}") for k, one in enumerate(records, 1)]
            )
        except InputError as error:
            raise InputError(where, str(error)) from None
        return tuple(records)


def _cell(value: Any) -> Any:
    """Return a cell; None where it is empty."""
    empty = value is None or (isinstance(value, float) and np.isnan(value)) or str(value).strip() == ""
    return None if empty else value


def _labels(value: Any) -> Labels:
    """Return the label of a cell; several stand between vertical bars."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    parts = [part.strip() for part in str(value).split("|")]
    return parts[0] if len(parts) == 1 else parts
