"""Side constraints by strata: owners of the same labels count alike in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest_column
from smqopt.market import ConstraintRecord, Coverage, ExpectedOwners, GroupBudget, Market, Parity
from smqopt.numeric import Floats, Mask
from smqopt.scale.parts._laws import AnyLaw, LawByColumns, laws_of
from smqopt.valuation import Ironed, Uniform, iron

Stratum = tuple[str, ...]
"""One label a column."""
MOST_STRATA = 256
"""No more combinations of labels: each has a sketch of its own."""
TIED = 2.0**-40
"""So near to what is taken off it, relative to both, ε says nothing at a price of 0."""
_ROUNDED = Fraction(1, 1 << 51)
"""Coefficients that are quotients of numbers are off by less, relative to them."""
_KINDS = Coverage, GroupBudget, Parity, ExpectedOwners


@dataclass(frozen=True)
class StratumRow:
    """One linear inequality, or equation, over owners of strata."""

    name: str
    at_most: float
    equal: bool
    acceptance: Mapping[Stratum, tuple[Fraction, Fraction]]
    """The coefficient of each owner's q lies between these."""
    spend: Mapping[Stratum, Fraction]
    """The coefficient of each owner's payment, ≥ 0."""
    fixed: bool
    """Whether it leaves a group nothing, or demands that all of one sell."""

    def usage(
        self, acceptance: Mapping[Stratum, tuple[int, int]], spend: Mapping[Stratum, tuple[int, int]], units: int
    ) -> tuple[Fraction, Fraction, Fraction]:
        """Enclose the left side, and bound the sum of absolute terms from below.

        Parameters
        ----------
        acceptance, spend
            Totals of a stratum, between two whole numbers of units.
        units
            How many are 1.
        """
        low = high = Fraction(0)
        size = abs(Fraction(self.at_most))
        for stratum, ends in self.acceptance.items():
            terms = [a * Fraction(total, units) for a in ends for total in acceptance[stratum]]
            low, high = low + min(terms), high + max(terms)
            size += max(min(map(abs, terms)), Fraction(0)) if min(terms) * max(terms) > 0 else Fraction(0)
        for stratum, s in self.spend.items():
            least, most = (s * Fraction(total, units) for total in spend[stratum])
            low, high, size = low + least, high + most, size + least
        return low, high, size


@dataclass(frozen=True)
class StratumTerms:
    """What multipliers make of ε and of the price in a stratum."""

    taken: float
    """What is taken off ε, to nearest."""
    price: float
    """What a unit of currency costs, in privacy, to nearest."""
    taken_low: float = 0.0
    price_low: float = 0.0
    """The same, rounded down."""
    size: float = 0.0
    """The sum of the absolute terms of what is taken off ε."""


def checked_constraints(
    law: AnyLaw, known: Sequence[str], records: Sequence[ConstraintRecord], budget: float
) -> Stratum:
    """Refuse what is not supported of parts; return the columns of the strata.

    Raises
    ------
    InputError
        Naming the constraint, or the law.
    """
    columns = columns_of(known, records)
    jumping = [one.name for one in laws_of(law) if isinstance(answer := iron(one), Ironed) and len(answer.pieces)]
    if isinstance(law, LawByColumns) or jumping:
        raise InputError(
            "solve: argument 'constraints'", "needs common laws whose virtual cost rises, for a market in parts",
            value=jumping[0] if jumping else "a law by columns",
            remedy="read the owners into memory, where all laws go with constraints, or leave the constraints out",
        )  # fmt: skip
    if budget == 0:
        rule, remedy = "need a budget > 0 for a market in parts", "leave them out, or raise the budget"
        raise InputError("solve: argument 'constraints'", rule, value=budget, remedy=remedy)
    return columns


def columns_of(known: Sequence[str], records: Sequence[ConstraintRecord]) -> Stratum:
    """Return the columns of labels that constraints name, among those of the market.

    Raises
    ------
    InputError
        If a constraint is not one of groups, or a column is not among those of the market.
    """
    columns: list[str] = []
    for record in records:
        where = f"constraint {record.words!r}"
        column = getattr(record, "column", None)
        payments = isinstance(record, Parity) and record.of != "acceptance"
        grouped = column is None or isinstance(column, (str, Mapping))
        if not isinstance(record, _KINDS) or payments or not grouped:
            raise InputError(
                where, "is not supported for a market in parts", value=record.kind,
                remedy="use coverage, group-budget, parity of acceptances or expected-owners over columns of groups",
            )  # fmt: skip
        for name in () if column is None else (column,) if isinstance(column, str) else tuple(column):
            if name not in known:
                raise InputError(
                    f"{where}: column {name!r}", "is not among the groups of the market",
                    remedy=nearest_column(name, known) if known else f'give ParquetMarket(..., groups=["{name}"])',
                )  # fmt: skip
            columns.append(name)
    return tuple(dict.fromkeys(columns))


def refuse_many(strata: int, where: str) -> None:
    """Refuse more strata than are counted.

    Raises
    ------
    InputError
        If there are more.
    """
    if strata > MOST_STRATA:
        raise InputError(
            where, f"has more than {MOST_STRATA} combinations of labels that constraints name", value=strata,
            remedy="join labels",
        )  # fmt: skip


def rows_of(
    records: Sequence[ConstraintRecord], columns: Sequence[str], counts: Mapping[Stratum, int]
) -> list[list[StratumRow]]:
    """Return the rows of each record, over strata of so many owners.

    Raises
    ------
    InputError
        If nobody carries a label that is named, or a row's numbers are too large.
    """
    strata = sorted(counts)
    labels = {column: np.array([stratum[k] for stratum in strata]) for k, column in enumerate(columns)}
    owners = np.array([counts[stratum] for stratum in strata])
    market = Market(np.ones(owners.size), Uniform(0, 1), groups=labels, multiplicity=owners)
    every = []
    for record in records:
        rows = []
        for row in record.rows(market):
            row.require_moderate()
            fixed = row.leaves_nothing or row.sells_surely is not None
            a, s = (
                {strata[k]: Fraction(value) / counts[strata[k]] for k, value in zip(*map(_list, pairs), strict=True)}
                for pairs in (row.acceptance, row.spend)
            )
            off = _ROUNDED if row.rounded else Fraction(0)
            ends = {stratum: (value - off * abs(value), value + off * abs(value)) for stratum, value in a.items()}
            rows.append(StratumRow(row.name, float(row.at_most), row.equal, ends, s, fixed))
        every.append(rows)
    return every


def terms_of(
    rows: Sequence[StratumRow], price: float, multipliers: Sequence[float], strata: Sequence[Stratum]
) -> dict[Stratum, StratumTerms]:
    """Return what multipliers make of ε and the price, stratum by stratum."""
    found = {}
    for stratum in strata:
        low = high = size = Fraction(0)
        cost = Fraction(price)
        for row, y in zip(rows, map(Fraction, multipliers), strict=True):
            if y and stratum in row.acceptance:
                ends = sorted(y * a for a in row.acceptance[stratum])
                low, high, size = low + ends[0], high + ends[1], size + abs(ends[0] + ends[1]) / 2
            cost += y * row.spend.get(stratum, 0)
        taken = float((low + high) / 2)
        found[stratum] = StratumTerms(taken, float(cost), below(low), max(below(cost), 0.0), float(size))
    return found


def is_tied(epsilon: Floats, taken: float, size: float) -> Mask:
    """Return whose answer a price of 0 leaves open: ε is what multipliers take off."""
    return np.asarray(np.abs(epsilon - taken) <= TIED * (epsilon + size))


def below(x: Fraction) -> float:
    """Return the largest double that is no more."""
    nearest = float(x)
    return nearest if Fraction(nearest) <= x else float(np.nextafter(nearest, -np.inf))


def _list(values: NDArray[Any]) -> list[Any]:
    return list(values.tolist())
