"""Parts on Dask's workers: one task a part, results merged in a tree."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import signal
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from smqopt.errors import InputError, SmqoptError

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")
S = TypeVar("S")
Progress = Callable[[int, int], None]
"""Takes how many parts are done, and how many there are."""
_KEPT = {"MALLOC_TRIM_THRESHOLD_": 1 << 28, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
"""Bytes that a worker keeps for its next arrays.

Dask gives all beyond 64 kB back to the system, array by array, which doubles the time of a pass."""
_SECONDS_WITHOUT_WORKERS = 120
"""How long tasks wait, in a pool of our own, while Dask could start no worker again."""
_BRANCHES = 8
"""Results that are merged at a time."""


@contextlib.contextmanager
def workers(client: Client | None) -> Iterator[Client]:
    """Lend the client, or a pool of processes on this machine.

    Raises
    ------
    InputError
        If Dask is not installed, the client is none, or the script starts itself anew in its own
        workers.
    """
    try:
        import dask  # noqa: PLC0415 -- comes with an extra
        from distributed import Client as AnyClient, LocalCluster  # noqa: PLC0415
    except ImportError as error:
        raise InputError("markets in parts", "need Dask", remedy='pip install "smqopt[scale]"') from error
    if client is not None:
        if not isinstance(client, AnyClient):
            raise InputError(
                "argument 'client'",
                "must be a dask.distributed Client",
                value=type(client).__name__,
                remedy="give Client(address), or nothing",
            )
        yield client
        return
    _refuse_import_by_worker()
    try:
        with (
            _hold_interrupts(),
            dask.config.set(
                {f"distributed.nanny.pre-spawn-environ.{name}": size for name, size in _KEPT.items()}
                | {"distributed.scheduler.no-workers-timeout": f"{_SECONDS_WITHOUT_WORKERS} s"}
            ),
        ):
            cluster = LocalCluster(
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,  # a worker that is told to close may call that an error
            )
    except RuntimeError as error:
        raise InputError("workers", f"do not start: {error}", remedy=_GUARD) from error
    with cluster, AnyClient(cluster) as own:
        yield own


_GUARD = 'put what runs under `if __name__ == "__main__":`, so that workers can import the script'


@contextlib.contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while workers start.

    What is started here never sees one: the process that started it stops all.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _refuse_import_by_worker() -> None:
    """Refuse to start workers while a worker imports the script that starts them."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError("the script", "starts its workers while one of them imports it", remedy=_GUARD)


@dataclass(frozen=True)
class _Attempt(Generic[S, T]):
    """Runs a task; an error of ours is a result, which no worker logs."""

    task: Callable[[S], T]

    def __call__(self, part: S) -> T | _Failure:
        try:
            return self.task(part)
        except SmqoptError as error:
            return _Failure(error)


@dataclass(frozen=True)
class _Failure:
    error: SmqoptError


def map_parts(
    client: Client, task: Callable[[S], T], parts: Sequence[S], merge: Callable[[list[T]], T], progress: Progress | None
) -> T:
    """Run a task a part, and merge what they return.

    Eight are merged at a time, in the order of parts. A task that is lost with its worker is run
    again by Dask. The first error stops all.

    Raises
    ------
    SmqoptError
        What the first task that failed raised; that workers die again and again on one part; or
        that none is left for longer than the cluster's own limit, `no-workers-timeout` of Dask.
    """
    from distributed import KilledWorker, as_completed  # noqa: PLC0415 -- comes with an extra
    from distributed.scheduler import NoWorkerError  # noqa: PLC0415

    futures = client.map(
        _Attempt(task), list(parts), pure=False, key=f"{type(task).__name__.lower()}-{uuid.uuid4().hex}"
    )
    level = futures
    try:
        for done, future in enumerate(as_completed(futures), 1):
            if future.status == "error" or future.type is _Failure:
                error: SmqoptError = future.result().error
                client.cancel(futures)
                raise error
            if progress is not None:
                progress(done, len(futures))
        while len(level) > 1:
            level = [
                client.submit(merge, level[start : start + _BRANCHES], pure=False)
                for start in range(0, len(level), _BRANCHES)
            ]
        result = level[0].result()
    except KilledWorker as error:
        raise SmqoptError(
            "workers", "died again and again on one part", remedy="give them more memory, or smaller row groups"
        ) from error
    except NoWorkerError as error:
        raise SmqoptError(
            "workers", f"are all gone, for {error.timeout:g} s", remedy="see why they ended, and start them again"
        ) from error
    return result  # type: ignore[no-any-return]
