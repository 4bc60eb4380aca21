"""What is to be run: units of work, each with its own randomness and its own file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from smqopt.errors import InputError
from smqopt.paper.data_sets._population import DATA_SETS, Population
from smqopt.paper.experiments._grid import (
    BUDGET_SHARES,
    CORRELATIONS,
    EVERYTHING,
    METRICS,
    NOISE_ONLY,
    columns,
)

TRIALS = 500
"""As in the paper."""
QUICK_TRIALS = 20
CHECK = "check"
"""A unit that compares the price table with the certified solution."""
_BLOCK = 10
_KEYS = {"adult": 0, "recs": 1, "movielens": 2}
"""What stands for a data set in the keys of its random streams."""
_FIXED = 4000
"""A trial takes about the time of so many owners more than it has."""
_VERSION = 1
"""Of the meaning of the numbers in the files; to be raised when a change of code changes them."""


@dataclass(frozen=True)
class Unit:
    """A few trials of one data set and correlation."""

    data_set: str
    correlation: float
    scheme: str
    """`EVERYTHING`, `NOISE_ONLY` or `CHECK`."""
    first: int
    last: int
    """Trials from `first` to before `last`."""

    @property
    def name(self) -> str:
        """The name of its file, without a suffix."""
        return f"{self.data_set}_{self.correlation:g}_{self.scheme}_{self.first:05d}-{self.last:05d}"

    def key(self, trial: int) -> tuple[int, ...]:
        """Return the key of a trial's random streams, whoever runs it."""
        return (_KEYS[self.data_set], CORRELATIONS.index(self.correlation), 0, trial)

    @property
    def noise_key(self) -> tuple[int, ...]:
        """The key of the noise where it alone is drawn."""
        return (_KEYS[self.data_set], CORRELATIONS.index(self.correlation), 1, 0)

    def work(self, n: int) -> float:
        """Return the time it takes, up to a factor; n owners."""
        trials = self.last - self.first if self.scheme == EVERYTHING else 3
        return trials * (n + _FIXED)


@dataclass(frozen=True)
class Plan:
    """The whole of the experiments.

    Parameters
    ----------
    trials
        At least 2.
    seed
        Of all randomness.

    Raises
    ------
    InputError
        If there are fewer than 2 trials: then there is no spread.
    """

    trials: int = TRIALS
    seed: int = 2020
    shares: tuple[float, ...] = field(default=BUDGET_SHARES)
    correlations: tuple[float, ...] = field(default=CORRELATIONS)

    def __post_init__(self) -> None:
        if self.trials < 2:
            raise InputError("trials", "must be at least 2", value=self.trials, remedy="give, say, 20")

    def units(self) -> list[Unit]:
        """List all units, a few trials of every setting first."""
        settings = [(data_set, rho) for data_set in DATA_SETS for rho in self.correlations]
        found = [
            Unit(*setting, EVERYTHING, first, min(first + _BLOCK, self.trials))
            for first in range(0, self.trials, _BLOCK)
            for setting in settings
        ]
        found += [Unit(*setting, NOISE_ONLY, 0, self.trials) for setting in settings]
        return found + [Unit(*setting, CHECK, 0, 1) for setting in settings if 0.0 < abs(setting[1]) < 1.0]

    def manifest(self, populations: Mapping[str, Population]) -> dict[str, Any]:
        """Say what the numbers depend on, beside the code; trials may be added."""
        return {
            "version": _VERSION,
            "seed": self.seed,
            "budget_shares": list(self.shares),
            "correlations": list(self.correlations),
            "columns": ["/".join(pair) for pair in columns()],
            "metrics": list(METRICS),
            "data": {key: fingerprint(population) for key, population in populations.items()},
        }


def fingerprint(population: Population) -> str:
    """Return a SHA-256 of all that is asked about."""
    digest = hashlib.sha256(f"{population.low} {population.high} {population.newcomer}".encode())
    for column in (population.ones, population.value, population.target):
        digest.update(column.astype("<i8").tobytes())
    digest.update(population.weight.round(12).astype("<f8").tobytes())
    return digest.hexdigest()
