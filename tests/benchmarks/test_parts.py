"""Markets in parts on this machine's processes: time an owner, and the memory of a worker, by the number of owners.

`SMQOPT_OWNERS=100000000 pytest tests/benchmarks/test_parts.py --benchmark-only -s` takes 10⁸, and 3 GB of disk.
"""

import os
import shutil
import time

import numpy as np
import pytest

import smqopt as smq
from smqopt.scale import workers

pytest.importorskip("distributed", reason="needs smqopt[scale]")
pa = pytest.importorskip("pyarrow", reason="needs smqopt[scale]")
import pyarrow.parquet as pq  # noqa: E402

SIZES = [10**6, 10**7]
GROUP = 1_000_000
LAWS = {
    "uniform": smq.Uniform(0, 1),
    "beta": smq.Beta(2, 3),
    "by group": smq.LawsByGroup("city", {"a": smq.Uniform(0, 1), "b": smq.Power(2), "c": smq.Beta(2, 3)}),
}


def peak_of_worker():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def seconds_of_worker():
    return time.process_time()


def write_owners(folder, n):
    rng = np.random.default_rng(0)
    for part in range(max(1, n // (2 * GROUP))):
        rows = min(n, 2 * GROUP)
        first = part * 2 * GROUP
        columns = {
            "id": np.arange(first, first + rows),
            "epsilon": rng.uniform(0.1, 2.0, rows),
            "city": pa.array(["a", "b", "c"]).take(pa.array(rng.integers(0, 3, rows))),
        }
        pq.write_table(pa.table(columns), folder / f"part-{part:05}.parquet", row_group_size=GROUP, compression="none")


@pytest.fixture(scope="module")
def owners(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("owners")
    write_owners(folder, request.param)
    yield request.param, folder
    shutil.rmtree(folder)


NUMBERS = [int(os.environ["SMQOPT_OWNERS"])] if "SMQOPT_OWNERS" in os.environ else SIZES


@pytest.mark.parametrize("owners", NUMBERS, indirect=True)
@pytest.mark.parametrize("law", LAWS)
def test_owners_in_parts(benchmark, owners, tmp_path, law):
    n, folder = owners
    out = tmp_path / "out"
    market = smq.ParquetMarket(folder, LAWS[law], owner_id="id")
    with workers(None) as client:
        spent = {}
        few = tmp_path / "few"  # so that workers have imported what they need, and made their tables
        few.mkdir()
        some = pq.ParquetFile(folder / "part-00000.parquet").read_row_group(0).slice(0, 20_000)
        for part in range(8):
            pq.write_table(some, few / f"part-{part}.parquet")
        warm = smq.solve(smq.ParquetMarket(few, LAWS[law]), 0.2 * 160_000, client=client, out=tmp_path / "warm")
        smq.verify(warm, client=client)
        shutil.rmtree(tmp_path / "warm")
        shutil.rmtree(few)

        def timed(name, verb):
            start, before = time.perf_counter(), sum(client.run(seconds_of_worker).values())
            found = verb()
            spent[name] = time.perf_counter() - start, sum(client.run(seconds_of_worker).values()) - before
            return found

        def both():
            solution = timed("solve", lambda: smq.solve(market, 0.2 * n, client=client, out=out))
            return solution, timed("verify", lambda: smq.verify(solution, client=client))

        solution, certificate = benchmark.pedantic(both, rounds=1)
        peak = max(client.run(peak_of_worker).values())
    shutil.rmtree(out)
    figures = ", ".join(
        f"{name} {wall / n * 1e9:.0f} ns ({cpu / n * 1e9:.0f} ns of CPU)" for name, (wall, cpu) in spent.items()
    )
    print(f"\n{law}, {n:.0e} owners: {figures} an owner, {solution.passes} passes of offers, peak {peak / 1e6:.0f} MB")
    assert certificate.valid
    assert certificate.grade == "proved"
    assert peak < 1e9
