"""Run a plan on one process or several, with the same numbers."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from smqopt.paper.baselines._table_check import table_check
from smqopt.paper.data_sets._population import Population
from smqopt.paper.experiments._grid import EVERYTHING, NOISE_ONLY
from smqopt.paper.experiments._plan import Plan, Unit
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._store import Store
from smqopt.paper.experiments._streams import Streams
from smqopt.paper.experiments._trial import outcomes

Told = Callable[[float, float], None]
"""Is told how much work is done and how much there is, in one unit."""


def run(
    plan: Plan, populations: Mapping[str, Population], store: Store, processes: int = 1, told: Told | None = None
) -> None:
    """Run all units that the store does not have.

    Parameters
    ----------
    plan, populations, store
        What to run, on which data, and where to keep it.
    processes
        How many work at a time.
    told
        Is told of the progress of what was left to do, at the start and after every unit.
    """
    store.open(plan.manifest(populations))
    left = [unit for unit in plan.units() if not store.has(unit)]
    works = {unit: unit.work(populations[unit.data_set].n) for unit in left}
    total, done = float(sum(works.values())), 0.0
    if told:
        told(done, total)
    for unit in _finish(left, plan, populations, store, processes):
        done += works[unit]
        if told:
            told(done, total)


def unit_arrays(unit: Unit, plan: Plan, population: Population) -> dict[str, NDArray[np.float64]]:
    """Run one unit.

    Returns
    -------
    dict
        Of trials, `notes` of shape (trials, budgets, columns, metrics) and `tenths` of shape
        (budgets, mechanisms, tenths), summed over the trials; of a check, `check`, a row a budget.
    """
    setting = _setting(population, unit.correlation, plan.shares)
    if unit.scheme == EVERYTHING:
        runs = [outcomes(setting, Streams.of(plan.seed, unit.key(trial))) for trial in range(unit.first, unit.last)]
        return {
            "notes": np.concatenate([notes for notes, _ in runs]),
            "tenths": np.sum([tenths for _, tenths in runs], axis=0),
        }
    if unit.scheme == NOISE_ONLY:
        streams = Streams.of(plan.seed, unit.key(0), unit.noise_key)
        return {"notes": outcomes(setting, streams, unit.last)[0]}
    return {"check": table_check(setting, Streams.of(plan.seed, unit.key(0)))}


@lru_cache(maxsize=16)
def _setting(population: Population, correlation: float, shares: tuple[float, ...]) -> Setting:
    return Setting.of(population, correlation, shares)


def _finish(
    units: list[Unit], plan: Plan, populations: Mapping[str, Population], store: Store, processes: int
) -> Iterator[Unit]:
    """Return units as they are finished and kept."""
    if processes == 1:
        for unit in units:
            store.write(unit, unit_arrays(unit, plan, populations[unit.data_set]))
            yield unit
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _prepare, (plan, dict(populations))) as pool:
        waiting: dict[Future[dict[str, NDArray[np.float64]]], Unit] = {}
        queue = iter(units)
        try:
            while True:
                for unit in islice(queue, 2 * processes - len(waiting)):
                    waiting[pool.submit(_work, unit)] = unit
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    unit = waiting.pop(future)
                    store.write(unit, future.result())
                    yield unit
        finally:
            pool.shutdown(cancel_futures=True)


_prepared: list[tuple[Plan, dict[str, Population]]] = []
"""What a worker process was given at its start."""


def _prepare(plan: Plan, populations: dict[str, Population]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt ends the run, which ends its workers
    _prepared[:] = [(plan, populations)]


def _work(unit: Unit) -> dict[str, NDArray[np.float64]]:
    plan, populations = _prepared[0]
    return unit_arrays(unit, plan, populations[unit.data_set])
