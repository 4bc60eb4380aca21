"""One Dask client in this process for all tests of the room; one cluster of processes for the slow ones."""

import shutil
from pathlib import Path

import numpy as np
import pytest

REASON = "needs dask, distributed and pyarrow: pip install smqopt[scale]"
distributed = pytest.importorskip("distributed", reason=REASON)
dask = pytest.importorskip("dask", reason=REASON)
pytest.importorskip("pyarrow", reason=REASON)


@pytest.fixture(scope="session")
def client():
    """Threads of this process: the scheduler and its protocol, without the price of processes."""
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as one:
        yield one


@pytest.fixture(scope="session")
def cluster():
    """Two processes, each started again when it is killed."""
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "120 s"}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as pool,
        distributed.Client(pool) as one,
    ):
        yield one


@pytest.fixture
def write(tmp_path):
    """Write columns as the parts of a folder, two row groups a part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def folder(columns, parts=1, name="owners", groups=2):
        path = Path(tmp_path) / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        n = len(next(iter(columns.values())))
        for k, rows in enumerate(np.array_split(np.arange(n), min(parts, n))):
            table = pa.table({column: np.asarray(values)[rows] for column, values in columns.items()})
            pq.write_table(table, path / f"part-{k:03}.parquet", row_group_size=max(1, -(-rows.size // groups)))
        return path

    return folder


@pytest.fixture
def thresholds():
    """Read what a solution in parts left on disk."""
    import pyarrow.parquet as pq

    def read(solution, column="threshold"):
        tables = [pq.read_table(solution.file_of(part)) for part in solution.parts]
        return np.concatenate([table[column].to_numpy() for table in tables])

    return read
