"""The main job on the original Adult file, end to end, after import.

SMQOPT_DATA=FOLDER pytest tests/benchmarks/test_adult_run.py -m realdata --benchmark-only -s
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, time
import click, cvxpy, sympy, flint, scipy.special, scipy.optimize, jinja2, latex2mathml.converter
import smqopt.cli.commands._run_command
from smqopt.cli._entry import run
start = time.perf_counter()
code = run(sys.argv[1:])
print(time.perf_counter() - start, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.realdata
def test_the_main_job_on_the_original_file(benchmark, tmp_path):
    data = Path(os.environ["SMQOPT_DATA"])
    file = data / "adult" / "adult.data.gz" if data.is_dir() else data

    def once():
        arguments = [
            "run",
            str(ROOT / "models" / "adult-income-count.toml"),
            "--out",
            str(tmp_path / "out"),
            "--data",
            str(file),
        ]
        done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True, text=True)
        return float(done.stderr.splitlines()[-1])

    seconds = benchmark.pedantic(once, rounds=1)
    print(f"\nmain job on the original file, after import: {seconds:.2f} s")
    assert (tmp_path / "out" / "report.html").exists()
