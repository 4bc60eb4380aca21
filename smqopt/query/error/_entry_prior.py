"""What is assumed of entries that nobody has seen yet."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.files import read_csv
from smqopt.market import numbers
from smqopt.numeric import Floats

_WHERE = "assumption"


@dataclass(frozen=True, eq=False, init=False)
class EntryPrior:
    """Assume entries independent, from one law on finitely many values.

    They depend neither on an owner's requirement nor on her valuation.

    A guess, from public knowledge: an earlier survey, a census. Never from the entries that are to
    be bought.

    Parameters
    ----------
    values
        What an entry can be, distinct, shape (m,).
    weights
        How likely each value is, ≥ 0, up to a common factor, shape (m,).

    Raises
    ------
    InputError
        If values repeat, or weights are negative, all 0 or of another number.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market(np.full(100, 0.5), smq.Uniform(0, 1))
    >>> prior = smq.EntryPrior([0, 1], [0.7, 0.3])
    >>> found = smq.predict(smq.Count(), market, [10.0], prior)
    >>> bool(found.total[0] > found.sampling[0] > 0)
    True
    """

    values: Floats
    """Ascending, shape (m,)."""
    chances: Floats
    """Their probabilities, shape (m,)."""

    def __init__(self, values: ArrayLike, weights: ArrayLike) -> None:
        x, w = numbers(values, f"{_WHERE}: values"), numbers(weights, f"{_WHERE}: weights")
        total = float(w.sum())
        if x.size == 0 or x.size != w.size or np.unique(x).size != x.size or np.any(w < 0) or not 0 < total < math.inf:
            raise InputError(
                _WHERE,
                "must be distinct values with weights ≥ 0, as many, not all 0",
                value=f"{x.size} values, {w.size} weights",
                remedy="give, say, EntryPrior([0, 1], [3, 1])",
            )
        order = np.argsort(x)
        object.__setattr__(self, "values", x[order])
        object.__setattr__(self, "chances", w[order] / total)

    @classmethod
    def share(cls, p: float) -> EntryPrior:
        """Assume that a share p of the owners has the entry 1, the others 0.

        Raises
        ------
        InputError
            If p does not lie in [0, 1].
        """
        if not 0 <= p <= 1:
            raise InputError(f"{_WHERE}: share", "must lie in [0, 1]", value=p, remedy="give, say, 0.25")
        return cls([0.0, 1.0], [1.0 - p, p])

    @classmethod
    def at_worst(cls, low: float, high: float) -> EntryPrior:
        """Assume half the entries at each end, where a mean is hardest to estimate."""
        return cls([low, high], [1.0, 1.0])

    @classmethod
    def evenly(cls, low: int, high: int) -> EntryPrior:
        """Assume every whole number of a range equally likely.

        A long range is represented by a thousand values spread evenly.
        """
        values = np.unique(np.rint(np.linspace(low, high, min(high - low + 1, 1000))))
        return cls(values, np.ones(values.size))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EntryPrior:
        """Read a CSV table with columns value and weight.

        Raises
        ------
        InputError
            If a column is missing or bad.
        """
        table = read_csv(path)
        for name in ("value", "weight"):
            if name not in table:
                raise InputError(f"{path}: column {name!r}", "is missing", remedy="give columns value and weight")
        columns = [numbers(table[name], f"{path}: column {name!r}") for name in ("value", "weight")]
        return cls(*columns)

    @property
    def mean(self) -> float:
        """The mean of an entry."""
        return float(self.chances @ self.values)

    @property
    def variance(self) -> float:
        """The variance of an entry."""
        return float(self.chances @ (self.values - self.mean) ** 2)

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw entries, shape (count,)."""
        return rng.choice(self.values, size=count, p=self.chances)

    def __str__(self) -> str:
        few = self.values.size <= 4
        told = ", ".join(
            f"{x:g} with {p:.4g}" for x, p in zip(self.values.tolist(), self.chances.tolist(), strict=True)
        )
        law = (
            told
            if few
            else f"{self.values.size} values, mean {self.mean:.6g}, standard deviation {self.variance**0.5:.6g}"
        )
        return f"entries independent of requirement and valuation: {law}"
