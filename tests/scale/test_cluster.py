"""Processes: killed workers and drivers change nothing, and a script without a guard is told so."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import distributed
import numpy as np
import pytest

import smqopt as smq
from smqopt.scale.parts import _cluster

pytestmark = pytest.mark.slow
N = 400
COLUMNS = {"epsilon": np.random.default_rng(3).uniform(0.2, 2.0, N), "id": [f"o{i}" for i in range(N)]}


class Killing:
    """A task that kills its worker the first time that it meets one part."""

    def __init__(self, task, mark):
        self.task, self.mark = task, mark

    def __call__(self, part):
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return self.task(part)
        time.sleep(0.5)  # Dask starts no worker again that ends before its nanny has heard of its start
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a killed process goes on")


@pytest.fixture
def kill(monkeypatch, tmp_path):
    """Kill a worker in every pass from now on; give the marks that were left."""
    plain = _cluster.map_parts
    marks = []

    def killing(client, task, parts, merge, progress):
        marks.append(tmp_path / f"mark{len(marks)}")
        return plain(client, Killing(task, str(marks[-1])), parts, merge, progress)

    for module in ("passes._first_pass", "passes._id_search", "passes._offers_pass", "_verify", "_procure", "_answer"):
        monkeypatch.setattr(f"smqopt.scale.{module}.map_parts", killing)
    return marks


def test_a_worker_killed_in_each_pass_changes_nothing(write, cluster, client, thresholds, tmp_path, kill, monkeypatch):
    market = smq.ParquetMarket(write(COLUMNS, 4), smq.Uniform(0, 1), owner_id="id")
    reports = write(COLUMNS | {"report": np.linspace(0, 1, N)}, 4, "reports")
    solution = smq.solve(market, 50.0, client=cluster, out=tmp_path / "out")
    certificate = smq.verify(solution, client=cluster)
    outcome = smq.procure(certificate, reports, client=cluster)
    entries = write(COLUMNS | {"entry": np.arange(N)}, 4, "entries")
    queries = (smq.Sum(0, N), smq.Median(0, N))
    answers = [smq.answer(query, entries, outcome, np.random.default_rng(1), client=cluster).value for query in queries]
    assert len(kill) == 9
    assert all(mark.exists() for mark in kill)
    monkeypatch.undo()
    undisturbed = [
        smq.answer(query, entries, outcome, np.random.default_rng(1), client=client).value for query in queries
    ]
    assert answers == undisturbed
    reference = smq.solve(smq.Market(COLUMNS["epsilon"], smq.Uniform(0, 1)), 50.0)
    assert np.max(np.abs(thresholds(solution) - reference.thresholds)) <= 1e-12
    assert certificate.valid
    assert outcome.bought == np.count_nonzero(np.linspace(0, 1, N) <= thresholds(solution))


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Beta(2, 3)], ids=["uniform", "beta"])
def test_any_parts_and_any_workers_give_the_same_bits(write, cluster, client, thresholds, tmp_path, law):
    said, manifests = [], []
    for parts in (1, 7, 24):
        for k, one in enumerate((client, cluster)):
            market = smq.ParquetMarket(write(COLUMNS, parts, f"owners{parts}"), law, owner_id="id")
            solution = smq.solve(market, 50.0, client=one, out=tmp_path / f"out{parts}-{k}")
            certificate = smq.verify(solution, client=one)
            content = {
                key: x for key, x in certificate.to_dict().items() if key not in ("manifest", "unchecked", "digest")
            }
            said.append((thresholds(solution).tobytes(), content))
            manifests.append((certificate.manifest, certificate.root))
    assert all(one == said[0] for one in said)
    assert all(manifests[k] == manifests[k + 1] for k in (0, 2, 4))


DRIVER = """
import os, sys
import smqopt as smq
from smqopt.scale.passes import _offers_pass

def stop(done, of):
    print(done, of, flush=True)

if __name__ == "__main__":
    folder, out = sys.argv[1:]
    solution = smq.solve(smq.ParquetMarket(folder, smq.Uniform(0, 1), owner_id="id"), 50.0, out=out, progress=stop)
    certificate = smq.verify(solution)
    print(certificate.valid, solution.purchased_privacy.hex())
"""


def test_a_driver_that_was_killed_is_run_again(write, tmp_path):
    folder, out = write(COLUMNS, 6), tmp_path / "out"
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    command = [sys.executable, str(script), str(folder), str(out)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    for line in first.stdout:  # some parts are done
        if line.startswith("3 6"):
            break
    first.kill()
    first.wait()
    first.stdout.close()
    time.sleep(1.0)  # its workers find that they are alone
    kept = {path: path.stat().st_mtime_ns for path in (out / ".work").rglob("*.json")}
    assert kept
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=120)
    reference = smq.solve(smq.Market(COLUMNS["epsilon"], smq.Uniform(0, 1)), 50.0)
    valid, privacy = done.stdout.split()[-2:]
    assert valid == "True"
    assert abs(float.fromhex(privacy) - reference.purchased_privacy) <= 1e-12 * reference.purchased_privacy
    assert all(path.stat().st_mtime_ns == modified for path, modified in kept.items() if "sketch" in str(path))


def test_a_script_without_a_guard_is_told_so(write, tmp_path):
    script = tmp_path / "bare.py"
    script.write_text(
        "import sys\nimport smqopt as smq\nprint(smq.solve(smq.ParquetMarket(sys.argv[1], smq.Uniform(0, 1)), 50.0))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, str(script), str(write(COLUMNS, 2))], capture_output=True, text=True, env=environment,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_a_pool_whose_workers_are_gone_is_not_waited_for_without_end():
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "100 ms"}),
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as pool,
        distributed.Client(pool) as one,
        pytest.raises(smq.SmqoptError, match=r"workers: are all gone, for 0\.1 s; see why they ended"),
    ):
        _cluster.map_parts(one, float, [1, 2], sum, None)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be held here")
def test_what_is_started_with_workers_never_sees_an_interrupt():
    held = []

    def look():
        held.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    with _cluster._hold_interrupts():
        started = threading.Thread(target=look)
    started.start()
    started.join()
    with _cluster._hold_interrupts():
        started = threading.Thread(target=look)
        started.start()
        started.join()
    assert held == [False, True]
    look()
    assert held[-1] is False
