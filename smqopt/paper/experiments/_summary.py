"""Trials condensed to one row a setup."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from smqopt.errors import InputError
from smqopt.files import read_csv, write_csv
from smqopt.numeric import Floats
from smqopt.paper.baselines._table_check import CHECKED
from smqopt.paper.data_sets._population import Population
from smqopt.paper.experiments._grid import (
    DECILES,
    EVERYTHING,
    MECHANISMS,
    METRICS,
    budget_of,
    columns,
)
from smqopt.paper.experiments._plan import CHECK, Plan
from smqopt.paper.experiments._store import Store

Key = tuple[str, str, float, float, str, str]

_DIGITS = 9
"""Significant digits of the results: far beyond what trials tell."""
_NORMAL = 1.959963984540054
"""97.5 % quantile of the standard normal law."""


@dataclass(frozen=True)
class Setup:
    """All trials of one data set, query, ρ, budget, scheme and mechanism."""

    data_set: str
    query: str
    correlation: float
    budget_share: float
    scheme: str
    mechanism: str
    trials: int
    undefined: int
    """Trials in which the mechanism gives no answer; the numbers below are of the others."""
    truth: float
    """φ(d_gt)."""
    mean: float
    deviation: float
    """Standard deviation of the answers."""
    mean_low: float
    mean_high: float
    """95 % interval of the mean."""
    low: float
    high: float
    """2.5 % and 97.5 % quantiles of the answers."""
    rmse: float
    rmse_error: float
    """Standard error of the RMSE."""
    sampling_rmse: float
    """RMSE of what the answers would be without noise."""
    noise_rmse: float
    """Root mean square of the noise."""
    bought: float
    """Owners bought, mean."""
    spend: float
    """Payments relative to B, mean."""
    privacy: float
    """Σ ε of the bought, mean."""
    spread: float
    """Relative standard deviation of the payments, mean."""

    @property
    def key(self) -> Key:
        """What tells it from other setups."""
        return (self.data_set, self.query, self.correlation, self.budget_share, self.scheme, self.mechanism)


@dataclass(frozen=True, eq=False)
class Results:
    """All setups, and what goes with them."""

    setups: Mapping[Key, Setup]
    tenths: Mapping[tuple[str, float, float, str], tuple[float, ...]]
    """By data set, ρ, budget and mechanism: the share of the owners of each tenth of ε that is
    bought."""
    checks: Mapping[tuple[str, float], tuple[float, ...]]
    """By data set and budget: the other columns of `CHECKED`."""

    SETUPS_FILE = "results.csv"
    TENTHS_FILE = "bought-by-requirement.csv"
    CHECKS_FILE = "price-table.csv"

    def setup(
        self, data_set: str, query: str, correlation: float, share: float, mechanism: str, scheme: str = EVERYTHING
    ) -> Setup:
        """Return a setup.

        Raises
        ------
        KeyError
            If there is none.
        """
        return self.setups[data_set, query, correlation, share, scheme, mechanism]

    @property
    def trials(self) -> int:
        """The number of trials of a setup."""
        return next(iter(self.setups.values())).trials

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write three tables."""
        place = Path(folder)
        names = [field.name for field in fields(Setup)]
        write_csv(
            place / self.SETUPS_FILE, names, ([getattr(one, name) for name in names] for one in self.setups.values())
        )
        write_csv(
            place / self.TENTHS_FILE,
            ("data_set", "correlation", "budget_share", "mechanism", *(f"tenth_{k + 1}" for k in range(DECILES))),
            ((*key, *row) for key, row in self.tenths.items()),
        )
        write_csv(place / self.CHECKS_FILE, ("data_set", *CHECKED), ((*key, *row) for key, row in self.checks.items()))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Results:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If a table is missing or is not what `save` writes.
        """
        place = Path(folder)
        setups = [_setup(row, str(place / cls.SETUPS_FILE)) for row in _rows(place / cls.SETUPS_FILE)]
        tenths = {
            (row[0], float(row[1]), float(row[2]), row[3]): tuple(map(float, row[4:]))
            for row in _values(place / cls.TENTHS_FILE)
        }
        checks = {(row[0], float(row[1])): tuple(map(float, row[2:])) for row in _values(place / cls.CHECKS_FILE)}
        return cls({one.key: one for one in setups}, tenths, checks)


def condense(plan: Plan, populations: Mapping[str, Population], store: Store) -> Results:
    """Condense a finished run.

    Raises
    ------
    InputError
        If a unit is not finished.
    """
    notes: dict[tuple[str, float, str], list[Floats]] = {}
    tenths: dict[tuple[str, float], Floats] = {}
    checks: dict[tuple[str, float], tuple[float, ...]] = {}
    for unit in plan.units():
        arrays = store.read(unit)
        if unit.scheme == CHECK:
            checks.update({(unit.data_set, row[0]): tuple(map(_round, row[1:])) for row in arrays["check"].tolist()})
            continue
        notes.setdefault((unit.data_set, unit.correlation, unit.scheme), []).append(arrays["notes"])
        if unit.scheme == EVERYTHING:
            place = (unit.data_set, unit.correlation)
            tenths[place] = tenths.get(place, np.zeros(1)) + arrays["tenths"]
    setups = [
        one
        for (data_set, correlation, scheme), parts in notes.items()
        for one in _condense_setup(plan, populations[data_set], (data_set, correlation, scheme), np.concatenate(parts))
    ]
    bought = {
        (data_set, correlation, share, mechanism): tuple(map(_round, (sums[b, m] / plan.trials).tolist()))
        for (data_set, correlation), sums in tenths.items()
        for b, share in enumerate(plan.shares)
        for m, mechanism in enumerate(MECHANISMS["count"])
    }
    return Results({one.key: one for one in setups}, bought, checks)


def _condense_setup(
    plan: Plan, population: Population, place: tuple[str, float, str], notes: Floats
) -> Iterator[Setup]:
    data_set, correlation, scheme = place
    for c, (query, mechanism) in enumerate(columns()):
        truth = population.truth(query)
        n = population.n - (query == "linear")
        for b, share in enumerate(plan.shares):
            yield Setup(
                data_set,
                query,
                correlation,
                share,
                scheme,
                mechanism,
                notes.shape[0],
                *_statistics(notes[:, b, c, :], truth, budget_of(share, n)),
            )


def _statistics(notes: Floats, truth: float, budget: float) -> list[Any]:
    """Return what a `Setup` holds from `undefined` on."""
    of = dict(zip(METRICS, notes[~np.isnan(notes[:, 0])].T, strict=True))
    answer = of["answer"]
    undefined = notes.shape[0] - answer.size
    if answer.size < 2:
        return [undefined, _round(truth), *[math.nan] * 14]
    squares = (answer - truth) ** 2
    rmse = math.sqrt(squares.mean())
    rmse_error = float(squares.std(ddof=1)) / math.sqrt(answer.size) / (2 * rmse) if rmse > 0 else 0.0
    mean, deviation = float(answer.mean()), float(answer.std(ddof=1))
    half = _NORMAL * deviation / math.sqrt(answer.size)
    low, high = np.quantile(answer, [0.025, 0.975]).tolist()
    figures = (
        truth,
        mean,
        deviation,
        mean - half,
        mean + half,
        low,
        high,
        rmse,
        rmse_error,
        math.sqrt(np.mean((of["exact"] - truth) ** 2)),
        math.sqrt(np.mean((answer - of["exact"]) ** 2)),
        of["bought"].mean(),
        of["spend"].mean() / budget,
        of["privacy"].mean(),
        of["spread"].mean(),
    )
    return [undefined, *(_round(float(x)) for x in figures)]


def _round(x: float) -> float:
    return float(f"{x:.{_DIGITS}g}")


def _values(path: Path) -> list[tuple[str, ...]]:
    return list(zip(*read_csv(path).values(), strict=True))


def _rows(path: Path) -> Iterable[dict[str, str]]:
    table = read_csv(path)
    return (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))


def _setup(row: Mapping[str, str], where: str) -> Setup:
    kinds: dict[str, type] = {"str": str, "int": int, "float": float}
    names: Sequence[tuple[str, str]] = [(field.name, str(field.type)) for field in fields(Setup)]
    if [name for name, _ in names] != list(row):
        raise InputError(where, "must have the columns of results", remedy="make it anew with smqopt reproduce")
    return Setup(**{name: kinds[kind](row[name]) for name, kind in names})
