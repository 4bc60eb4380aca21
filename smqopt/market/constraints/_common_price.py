"""One price for all owners of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord


@dataclass(frozen=True)
class CommonPrice(ConstraintRecord):
    """Owners with the same label in a group column are offered the same price.

    Owners of one law are one owner with their mean requirement. Where laws differ, the group draws
    between common prices, with one probability each for all its owners, and each draws on her own.
    Who accepts is paid the price, also above her own support. Any laws may share a price. The bound
    closes fast where laws are known to bend evenly between a few prices: regular ones, `Beta` and
    `Kumaraswamy`, histograms, atoms, copulas of a uniform law, and mixtures of these; of others it
    is known that F rises, which takes some 10⁵ or 10⁶ cells a group, too many where a group has
    dozens of such laws.

    Parameters
    ----------
    column
        A group column of the market.

    Examples
    --------
    >>> import smqopt as smq
    >>> cities = ["Oslo", "Oslo", "Bergen"]
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), groups={"city": cities})
    >>> smq.solve(market, 0.5, constraints=[smq.CommonPrice("city")]).thresholds.round(3).tolist()
    [0.222, 0.222, 0.634]
    """

    kind: ClassVar[str] = "common-price"

    column: str

    def describe(self) -> str:
        return f"one price for each {self.column}"

    def common_prices(self, market: Market) -> NDArray[np.intp]:
        number = np.empty(market.n, dtype=np.intp)
        for label, rows in enumerate(market.rows_of_group(self.column).values()):
            number[rows] = label
        return number
