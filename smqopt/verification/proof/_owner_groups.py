"""Owners by family of laws, each with what encloses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Market, Solution
from smqopt.numeric import Indices
from smqopt.valuation import SampleLaw, Valuation
from smqopt.verification.enclosures._curve import Curve
from smqopt.verification.enclosures._provable import LIST, PriceRules, Provable, provable
from smqopt.verification.proof._exact_bounds import ExactBounds

LARGEST_COUNT = 2.0**52
"""Up to here counts add up without rounding."""


@dataclass(frozen=True)
class Regularity:
    """Why the Lagrangian of some owners has the maximum that was claimed."""

    law: str
    owners: int
    rule: str

    def to_dict(self) -> dict[str, Any]:
        """Return the record as data."""
        return {"law": self.law, "owners": self.owners, "rule": self.rule}


@dataclass(frozen=True, eq=False)
class Terms:
    """Some terms of the Lagrangian, of owners of one law under one rule of prices."""

    row: Indices
    """Which rows of the statement, or of the market where there is none."""
    place: Indices
    """Which owner of the curve, from 0."""
    curve: Callable[[], Curve] | None
    """Makes their curves; None where they are those of the law itself."""

    def take(self, chosen: NDArray[np.bool_]) -> Terms:
        """Select some of the terms."""
        return Terms(self.row[chosen], self.place[chosen], self.curve)


@dataclass(frozen=True, eq=False)
class Part:
    """Indices of one family of laws."""

    law: Valuation
    owner: Indices
    """Rows of the market; of those who are alike in all that a proof looks at, the first."""
    place: Indices
    """Which owner of the law each is, from 0; 0 for all where it is common."""
    copies: NDArray[np.float64]
    """How many rows of the market are alike."""
    curve: Callable[[], Curve]
    terms: tuple[Terms, ...]
    regularity: Regularity
    effort: int
    """What has to be worked out before, as so many owners."""

    def rows(self, chosen: slice) -> Part:
        """Return some of the owners, where the terms are theirs."""
        owner, place = self.owner[chosen], self.place[chosen]
        return replace(self, owner=owner, place=place, copies=self.copies[chosen], terms=(Terms(owner, place, None),))


def unproved_laws(market: Market) -> tuple[str, ...]:
    """Return why laws are not proved to be cdfs, one line each."""
    verdicts = [law.is_proved_cdf() for law, _ in market.valuation.parts()]
    return tuple(
        f"if F does not fall: {found.method}" if found.holds is None else f"F is no cdf: {found.method}"
        for found in dict.fromkeys(verdicts)
        if not found.is_proved
    )


def parts_of(
    solution: Solution, first: Indices | None, bounds: ExactBounds | None, alike: tuple[NDArray[Any], ...]
) -> Iterator[Part | str]:
    """Return the owners of each family, or why they cannot be enclosed.

    Parameters
    ----------
    solution
        What is to be proved, its laws proved not to fall.
    first
        The first owner of each row of its statement; None where rows and owners are the same.
    bounds
        What constraints put on the rows; None where there are none.
    alike
        Columns of numbers, one an owner: owners of a law who agree in all of them are enclosed
        once, where rows and owners are the same and have no constraints.
    """
    market = solution.market
    for given, index in market.valuation.parts():
        law = given.law if isinstance(given, SampleLaw) else given
        found = provable(law)
        if isinstance(found, str):
            yield found
            continue
        owner = np.arange(market.n)[index]
        place = np.zeros(owner.size, dtype=np.intp) if law.size is None else np.arange(owner.size, dtype=np.intp)
        if bounds is None:
            if found.unproved:
                yield found.unproved
                continue
            chosen, copies = together(law, place, [column[owner] for column in alike])
            terms: tuple[Terms, ...] = (Terms(owner[chosen], place[chosen], None),)
            rule = found.rule
        else:
            chosen, copies = np.arange(owner.size), np.ones(owner.size)
            where = np.full(market.n, -1, dtype=np.intp)
            where[owner] = place
            rows = np.arange(market.n) if first is None else first
            mine = np.flatnonzero(where[rows] >= 0)
            if found.unproved and np.any(bounds.listed[mine] < 0):
                yield found.unproved
                continue
            terms = tuple(_terms(solution, found, bounds, mine, where[rows[mine]], rows[mine]))
            rule = LIST if mine.size and np.all(bounds.listed[mine] >= 0) else found.rule
        yield Part(
            law, owner[chosen], place[chosen], copies, found.curve, terms, Regularity(law.name, int(owner.size), rule),
            found.effort,
        )  # fmt: skip


def _terms(
    solution: Solution, found: Provable, bounds: ExactBounds, rows: Indices, place: Indices, first: Indices
) -> Iterator[Terms]:
    """Yield the terms of one law's rows, by the list of their prices."""
    market = solution.market
    for number in np.unique(bounds.listed[rows]).tolist():
        at = np.flatnonzero(bounds.listed[rows] == number)
        mine, owner = rows[at], first[at]
        rules = PriceRules(
            place[at], bounds.floor[mine], bounds.ceiling[mine], market.low[owner], market.high[owner],
            None if number < 0 else bounds.lists[number],
        )  # fmt: skip
        curve, where = found.within(rules)
        yield Terms(mine, where, curve)


def together(law: Valuation, place: Indices, columns: list[NDArray[Any]]) -> tuple[Indices, NDArray[np.float64]]:
    """Return the first of the owners who are alike, and how many these are.

    Parameters
    ----------
    law
        The law of all of them. Where it is one an owner, owners are alike whose parameters are, if
        the law keeps nothing else.
    place
        Which owner of the law each is.
    columns
        What else tells them apart.
    """
    if law.size is not None:
        given = [place] if law.extras() else list(law.arguments.values())
        columns = columns + [column for column in given if isinstance(column, np.ndarray)]
    order = np.lexsort(columns)
    new = np.zeros(order.size, dtype=np.bool_)
    new[:1] = True
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    first = np.flatnonzero(new)
    return order[first], np.diff(np.append(first, order.size)).astype(np.float64)
