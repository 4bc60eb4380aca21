"""What the linear release needs to know of a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats

Reader = Callable[[ArrayLike, Sequence[str]], NDArray[np.generic]]


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Σ w_i x_i over the population, for one or more functions x of an entry.

    Each within a public range.
    """

    weights: Floats = field(repr=False)
    """w_i, one an owner of the population, shape (N,)."""
    low: float
    high: float
    """The public range of x."""
    read: Reader = field(repr=False)
    """Checks the entries; gives them, or the number of the sum that each is counted in."""
    whole: bool = False
    """Whether x is at one end of its range or the other."""
    sums: int | None = None
    """How many sums there are, if an entry is counted in one of them and x says whether; None for
    one sum of the entries themselves."""

    @property
    def width(self) -> float:
        """R, the width of the range."""
        return self.high - self.low

    @property
    def sums_reached(self) -> int:
        """How many sums a change of one entry moves: each bears so many times the noise."""
        return 1 if self.sums is None else 2
