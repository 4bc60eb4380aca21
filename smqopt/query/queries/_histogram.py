"""How many owners have an entry in each bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats, NumberList
from smqopt.query._public_numbers import checked_clamp, clamp_parameter
from smqopt.query.exponential._score import Score
from smqopt.query.linear._linear_form import LinearForm
from smqopt.query.queries._bins import bin_numbers, checked_edges
from smqopt.query.queries._count import Count
from smqopt.query.queries._query import AnyQuery


@final
@dataclass(frozen=True)
class Histogram(AnyQuery):
    """The counts of all bins, each scaled by n/k.

    Every bin is a count drawn on its own, at ε_i/2 (errata F6).

    A changed entry leaves one bin and enters another, so two of the draws see it, at ε_i/2 each.
    The counts need not sum to n.

    Parameters
    ----------
    edges
        Public, ascending, two or more: bins hold their lower edge, the last one both.
    clamp
        Whether entries beyond the edges count in the first and the last bin, instead of refused.

    Raises
    ------
    InputError
        If the edges are not such.

    Examples
    --------
    >>> bins = Histogram([0, 18, 65, 120])
    >>> bins.entries([17, 18, 120], ["ann", "bo", "cy"]).tolist()
    [0, 1, 2]
    """

    edges: NumberList
    clamp: bool = field(default=False, kw_only=True)

    name = "histogram"
    noise_unit = "owners of the population, in all bins at once"
    share = 0.5

    def __post_init__(self) -> None:
        checked_clamp(self.name, self.clamp)
        object.__setattr__(self, "edges", checked_edges(self.name, self.edges))

    @property
    def bins(self) -> int:
        """The number of bins."""
        return len(self.edges) - 1

    @property
    def figures(self) -> int:
        """How many numbers an answer holds: one a bin."""
        return self.bins

    def parameters(self) -> dict[str, Any]:
        """Return the edges."""
        return {"edges": list(self.edges), **clamp_parameter(self.clamp)}

    def linear_form(self, population: int) -> LinearForm:
        """Return one sum a bin: of who is in it."""
        return LinearForm(np.ones(population), 0.0, 1.0, self.entries, whole=True, sums=self.bins)

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check that every entry lies in a bin; return the bins' numbers."""
        return bin_numbers(self.edges, data, owner_ids, clamp=self.clamp)

    def scores(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> tuple[Score, ...]:
        """Return the cost of each count, bin by bin."""
        return tuple(Count().score((entries == b).astype(np.int64), epsilon, ceiling) for b in range(self.bins))

    def draw_values(self, results: NDArray[np.int64], bought: int, population: int) -> Floats:
        """Return r n/k, rounded once."""
        return results * population / bought

    def value(self, results: Sequence[int], bought: int, population: int) -> tuple[float, ...]:
        """Return r n/k for each bin, each rounded once."""
        return tuple(r * population / bought for r in results)

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:
        """Return a half-width that all bins keep at once.

        Each misses it with probability at most (1 − level)/bins.
        """
        return Count().half_width(self.share * epsilon, 1.0 - (1.0 - level) / self.bins, population)
