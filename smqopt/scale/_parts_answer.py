"""A private answer from a market in parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.query import (
    NOISE_LEVEL,
    Charge,
    FittedQuery,
    LinearRelease,
    PopulationQuery,
    broker_record,
    grid_of,
    ranks_off_at,
    record_on_grid,
)


@dataclass(frozen=True, eq=False)
class ParquetAnswer:
    """An answer and what is public of it; it holds no entry.

    All but `publish` tells who sold.
    """

    value: int | float | tuple[float, ...]
    """The answer, as it was drawn: `publish` rounds it. One number a bin for a histogram."""
    population: int
    """n, the number of owners in the market."""
    bought: int
    """k = |S_c|, the number of entries the answer was drawn from."""
    simulation: bool
    """Whether the noise came from a generator that can be run again."""
    share: Fraction
    """The share of every requirement that the answer spends; 1 for all."""
    question: PopulationQuery = field(repr=False)
    asked: FittedQuery = field(repr=False)
    """The query, fitted to the purchase."""
    everyone: FittedQuery = field(repr=False)
    """The query, fitted to a purchase from all who could sell."""
    sure: Floats = field(repr=False)
    """Of quantiles: the least that 1, 2, … changes cost, as far as is known."""
    charge: Charge | None = field(repr=False, default=None)
    """The charge in the ledger that the answer was drawn on; None where there is no ledger."""

    @property
    def query(self) -> str:
        """The name of the query."""
        return self.question.name

    @property
    def noise_unit(self) -> str:
        """The unit of `noise_half_width`."""
        return self.asked.noise_unit

    def noise_half_width(self, level: float = NOISE_LEVEL) -> float:
        """Bound the noise: it is at most this with probability at least `level`.

        In `noise_unit`; from public requirements alone. It speaks of the noise, not of the sample.

        Raises
        ------
        InputError
            If the level is not in (0, 1).
        """
        return self._half_width(self.asked, level)

    def _half_width(self, fitted: FittedQuery, level: float) -> float:
        if not 0 < level < 1:
            raise InputError("argument 'level'", "must lie between 0 and 1", value=level, remedy="give, say, 0.95")
        if isinstance(fitted, LinearRelease):
            return fitted.half_width(self.sure, level, self.population)
        h, low, high = rank_range(self.question, self.bought)
        return ranks_off_at(self.sure, max(h, self.bought - h + 1), high - low, level)

    def publish(self) -> dict[str, Any]:
        """Return what may be published, fit for JSON; it does not say who sold.

        As `Answer.publish` does.

        Raises
        ------
        InputError
            If this is a simulation.
        """
        if self.simulation:
            raise InputError("answer", "is a simulation, and no release", remedy="answer without a generator")
        width = self.noise_half_width(NOISE_LEVEL)
        grid = grid_of(self._half_width(self.everyone, NOISE_LEVEL)) if self.asked.scales_to_population else None
        return record_on_grid(self.question, self.asked, self.population, self.value, width, grid, NOISE_LEVEL)

    def to_dict(self) -> dict[str, Any]:
        """Return the broker's record of the release, fit for JSON. It tells who sold."""
        return broker_record(self)


def rank_range(query: Any, bought: int) -> tuple[int, int, int]:
    """Return h and the public range of a median or quantile of k entries."""
    h = query.rank(bought) if hasattr(query, "rank") else (bought + 1) // 2
    return h, query.low, query.high
