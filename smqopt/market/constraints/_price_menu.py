"""Prices from a list, or in whole units of currency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market._group import GroupColumn, Labels
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord, checked_limit
from smqopt.numeric import Floats, NumberList

_MOST_PRICES = 1 << 16


@dataclass(frozen=True)
class PriceMenu(ConstraintRecord):
    """Every owner, or every one of a group, gets a price from a list, or no offer.

    A listed price above an owner's support buys her entry for sure, and is paid. Floors and
    ceilings of prices (`PriceRange`) shorten the list.

    Parameters
    ----------
    prices
        The list, in currency; or None with a `step`.
    step
        All multiples of a step: 1 for whole units, 0.01 for cents.
    column, label
        The group; all owners where none is named.

    Raises
    ------
    InputError
        If there is no list and no step, or both, or a price is negative or not finite.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 0.9], smq.Uniform(0, 1))
    >>> menu = smq.PriceMenu(step=0.25)
    >>> smq.solve(market, 0.5, constraints=[menu]).thresholds.tolist()
    [0.25, 0.25, 0.5]
    """

    kind: ClassVar[str] = "price-menu"

    prices: NumberList | None = None
    step: float | None = None
    column: GroupColumn | None = None
    label: Labels | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.prices is None) == (self.step is None):
            raise InputError(self.where("prices"), "or a step must be given, not both", remedy="give prices=(1, 2, 5)")
        if self.prices is not None:
            self.set_list("prices")
            if not self.prices:
                raise InputError(self.where("prices"), "must hold at least one price", remedy="give prices=(1, 2, 5)")
            for price in self.prices:
                checked_limit(price, self.where("prices"))
        elif checked_limit(self.step, self.where("step")) == 0:
            raise InputError(self.where("step"), "must be positive", value=self.step, remedy="use, say, 0.01")

    def describe(self) -> str:
        if self.step is not None:
            return f"prices{self.of_whom} in steps of {self.step:g}"
        return f"prices{self.of_whom} from a list of {len(self.prices or ())}"

    def price_list(self, market: Market) -> tuple[NDArray[np.intp], Floats]:
        owners = self.members(market)
        if self.prices is not None:
            return owners, np.unique(np.asarray(self.prices, dtype=np.float64))
        step = float(self.step or 0.0)
        first = np.ceil(float(market.low[owners].min()) / step)
        last = np.ceil(float(market.high[owners].max()) / step)  # the first one above the supports buys all
        if last - first + 1 > _MOST_PRICES:
            raise InputError(
                self.where("step"),
                f"must leave at most {_MOST_PRICES} prices on the supports",
                value=step,
                remedy="take a longer step",
            )
        whole, parts = np.arange(first, last + 1), round(1.0 / step)
        return (
            owners,
            whole / parts if parts and step == 1.0 / parts else step * whole,
        )  # 15/100 is nearer to 0.15 than 15 · 0.01
