"""A floor and a ceiling on prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from smqopt.errors import InputError
from smqopt.market._group import GroupColumn, Labels
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Bounds, ConstraintRecord, checked_limit


@dataclass(frozen=True)
class PriceRange(ConstraintRecord):
    """Every owner, or every one of a group, gets a price in a range, or no offer.

    From `at_least` to `at_most`.

    A floor above an owner's support buys her entry for sure, and is paid. A ceiling below it means
    no offer. To demand that somebody gets an offer, bound acceptance (`AcceptanceRange`).

    Parameters
    ----------
    at_least, at_most
        Prices in currency; None leaves a side open, one must be given.
    column, label
        The group; all owners where none is named.

    Raises
    ------
    InputError
        If no price is given, one is negative or not finite, or the floor exceeds the ceiling.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> cap = smq.PriceRange(at_most=0.4)
    >>> smq.solve(market, 0.5, constraints=[cap]).thresholds.max().item()
    0.4
    """

    kind: ClassVar[str] = "price-range"

    at_least: float | None = None
    at_most: float | None = None
    column: GroupColumn | None = None
    label: Labels | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at_least is None and self.at_most is None:
            rule, remedy = "or 'at_least' must be given", "give a price, or leave the constraint out"
            raise InputError(self.where("at_most"), rule, value="neither", remedy=remedy)
        floor = 0.0 if self.at_least is None else checked_limit(self.at_least, self.where("at_least"))
        if self.at_most is not None and floor > checked_limit(self.at_most, self.where("at_most")):
            raise InputError(
                self.where("at_least"), f"must be at most {self.at_most:g}", value=floor, remedy="swap the two"
            )

    def describe(self) -> str:
        floor = [] if self.at_least is None else [f"at least {self.at_least:g}"]
        ceiling = [] if self.at_most is None else [f"at most {self.at_most:g}"]
        return f"prices{self.of_whom} {' and '.join(floor + ceiling)}"

    def price_bounds(self, market: Market) -> Iterator[Bounds]:
        owners = self.members(market)
        least = 0.0 if self.at_least is None else float(self.at_least)
        most = float("inf") if self.at_most is None else float(self.at_most)
        yield Bounds(self.words, owners, least, most)
