"""Records of an expanded program: each law has its own rows of the market."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Bounds, ConstraintRecord, Row, Rows
from smqopt.numeric import Floats, Indices


@dataclass(frozen=True, eq=False)
class OneOffer(ConstraintRecord):
    """Rows of one number get one price: an owner's under all laws."""

    kind: ClassVar[str] = "one-offer"

    number: Indices = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    for_nothing: Indices = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """Rows that stand for minima: the only price is 0."""
    drawn: bool = False
    """Whether offers are shares of prices even where an owner's laws are the same."""

    def describe(self) -> str:
        return "one offer under all laws"

    def common_prices(self, market: Market) -> NDArray[np.intp]:  # noqa: ARG002
        return self.number

    def drawn_prices(self) -> Indices:
        return np.arange(self.number.size if self.drawn else 0)

    def price_list(self, market: Market) -> tuple[Indices, Floats] | None:  # noqa: ARG002
        return (self.for_nothing, np.zeros(1)) if self.for_nothing.size else None


@dataclass(frozen=True, eq=False)
class GivenRows(ConstraintRecord):
    """Rows as they are."""

    kind: ClassVar[str] = "given-rows"

    of: str = ""
    given: tuple[Row, ...] = ()

    def describe(self) -> str:
        return self.of

    def rows(self, market: Market) -> Rows:  # noqa: ARG002
        yield from self.given


@dataclass(frozen=True, eq=False)
class MinimumRows(GivenRows):
    """Rows that hold a minimum from above; its value follows from the offers."""

    read_from_prices: ClassVar[bool] = True

    places: Indices = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def stand_ins(self) -> Indices:
        return self.places


@dataclass(frozen=True, eq=False)
class UnderLaws(ConstraintRecord):
    """A record under each of several laws."""

    kind: ClassVar[str] = "under-laws"

    record: ConstraintRecord = dataclasses.field(default_factory=ConstraintRecord)
    markets: tuple[Market, ...] = ()
    """The user's market with each law."""
    labels: tuple[str, ...] = ()
    """What to add to a row's words, one a law."""
    between: bool = False
    """Whether laws between the first and the last are possible, too."""

    def describe(self) -> str:
        return self.record.words

    def rows(self, market: Market) -> Rows:  # noqa: ARG002
        for start, (one, label) in self._each():
            for row in self.record.rows(one):
                if self.between:
                    refuse_both_signs(row, self.record)
                a, s = ((rows + start, values) for rows, values in (row.acceptance, row.spend))
                yield dataclasses.replace(row, name=row.name + label, acceptance=a, spend=s)

    def acceptance_bounds(self, market: Market) -> Iterator[Bounds]:  # noqa: ARG002
        for start, (one, label) in self._each():
            for bounds in self.record.acceptance_bounds(one):
                yield dataclasses.replace(bounds, name=bounds.name + label, owners=bounds.owners + start)

    def price_bounds(self, market: Market) -> Iterator[Bounds]:  # noqa: ARG002
        for start, (one, _) in self._each():
            for bounds in self.record.price_bounds(one):
                yield dataclasses.replace(bounds, owners=bounds.owners + start)

    def price_list(self, market: Market) -> tuple[Indices, Floats] | None:  # noqa: ARG002
        first = self.record.price_list(self.markets[0])
        if first is None:
            return None
        starts = [start for start, _ in self._each()]
        return np.concatenate([first[0] + start for start in starts]), first[1]

    def common_prices(self, market: Market) -> NDArray[np.intp] | None:
        first = self.record.common_prices(self.markets[0])
        if first is None:
            return None
        rest = market.n - len(self.markets) * first.size
        return np.concatenate([*[first] * len(self.markets), first.max() + 1 + np.arange(rest)]).astype(np.intp)

    def _each(self) -> Iterator[tuple[int, tuple[Market, str]]]:
        for k, one in enumerate(zip(self.markets, self.labels, strict=True)):
            yield k * one[0].n, one


def refuse_both_signs(row: Row, record: ConstraintRecord) -> None:
    """Refuse a row of which neither edge of a band is the worst.

    Raises
    ------
    InputError
        If the row holds acceptances of both signs, or is an equation.
    """
    a = np.concatenate([row.acceptance[1], row.spend[1]])
    if row.equal or (np.any(a > 0) and np.any(a < 0)):
        raise no_worst_edge(f"constraint {record.words!r}", "acceptances against each other", "drop the constraint")


def no_worst_edge(where: str, weighed: str, otherwise: str) -> InputError:
    """Say why a sum that rises and falls with F has no worst edge."""
    return InputError(
        where,
        f"weighs {weighed}, which no edge of a band makes worst",
        remedy=f"state the laws in doubt as smq.Scenarios([...]), or {otherwise}",
    )
