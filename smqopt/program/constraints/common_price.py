"""One price for all owners of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.program.constraints.record import ConstraintRecord, labels_of
from smqopt.program.market import Market

__all__ = ["CommonPrice"]


@dataclass(frozen=True)
class CommonPrice(ConstraintRecord):
    """Owners with the same label in a group column are offered the same price.

    Parameters
    ----------
    column
        A group column of the market.
    """

    kind: ClassVar[str] = "common-price"

    column: str

    def described(self) -> str:
        return f"one price for each {self.column}"

    def common_prices(self, market: Market) -> NDArray[np.intp]:
        labels = labels_of(market, self.column, self.where("column")).astype(str)
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)
