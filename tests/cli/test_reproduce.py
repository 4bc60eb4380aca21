"""`smqopt reproduce` on forged populations: runs, goes on, and writes the page alone."""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import polars as pl
import pytest

from smqopt.paper import DATA_SETS, Results
from smqopt.paper.data_sets._population import in_order


def forged(seed, n):
    def load(_path):
        rng = np.random.default_rng(seed)
        ones, target = rng.integers(0, 2, (2, n))
        return in_order(
            list(DATA_SETS)[seed], ones, rng.integers(20, 60, n), (0, 100), target, rng.uniform(0.1, 1.0, n - 1)
        )

    return load


@pytest.fixture
def small_data(monkeypatch):
    small = {key: forged(seed, 24 + seed) for seed, key in enumerate(DATA_SETS)}
    monkeypatch.setattr(importlib.import_module("smqopt.cli.commands._reproduce_command"), "DATA_SETS", small)


def test_it_runs_and_writes_everything(smqopt, small_data, tmp_path):
    out = tmp_path / "out"
    called = smqopt("reproduce", "--trials", 2, "--processes", 1, "--out", out, "--parquet", "--json")
    assert called.code == 0, called.err
    told = json.loads(called.out)
    assert (told["trials"], told["setups"]) == (2, 4500)
    assert (out / "reproduction.md").exists()
    assert len(told["figures"]) == 6
    frame = pl.read_parquet(out / "reproduction" / "results.parquet")
    results = Results.load(out / "reproduction")
    assert frame["rmse"].to_list()[0] == next(iter(results.setups.values())).rmse
    assert frame.height == 4500

    kept = {path.name: path.stat().st_mtime_ns for path in (out / "trials").iterdir()}
    again = smqopt("reproduce", "--trials", 2, "--processes", 1, "--out", out)
    assert again.code == 0
    assert "4,500 setups of 2 trials" in again.out
    assert {path.name: path.stat().st_mtime_ns for path in (out / "trials").iterdir()} == kept

    other = smqopt("reproduce", "--trials", 2, "--seed", 1, "--out", out)
    assert other.code == 2
    assert "holds trials with another 'seed'" in other.error

    page = tmp_path / "elsewhere" / "page.md"
    written = smqopt("reproduce", "--out", out, "--page", page)
    assert written.code == 0
    assert page.read_text().replace("(page/", "(reproduction/") == (out / "reproduction.md").read_text()
    assert (tmp_path / "elsewhere" / "page" / "count.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--quick", "--trials", "5"), "does not go with --quick"),
        (("--trials", "1"), "--trials"),
        (("--processes", "0"), "--processes"),
        (("--page", "page.html"), "must end in .md"),
        (("--page", "page.md"), "results.csv"),
    ],
)
def test_bad_options_are_told_in_one_line(smqopt, tmp_path, arguments, told):
    called = smqopt("reproduce", "--out", tmp_path / "out", *arguments)
    assert called.code == 2
    assert told in called.error


def test_missing_data_are_told_with_their_terms(smqopt, tmp_path, monkeypatch):
    monkeypatch.delenv("SMQOPT_DATA", raising=False)
    called = smqopt("reproduce", "--quick", "--out", tmp_path / "out")
    assert called.code == 2
    assert "SMQOPT_DATA is not set" in called.error
    assert "10.24432/C5XW20" in called.error
    assert not (tmp_path / "out").exists()


def test_parquet_without_its_library_is_refused_before_any_work(smqopt, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    called = smqopt("reproduce", "--quick", "--parquet", "--out", tmp_path / "out")
    assert called.code == 2
    assert 'pip install "smqopt[tables]"' in called.error
