"""Models of errors and of purchases while the money lasts that cannot be: one line each, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SMALL = """
budget = 1.5
seed = 7
[owners]
ids = ["ann", "bo", "cy", "di"]
epsilon = [0.5, 1.0, 1.5, 2.0]
data = [1, 0, 1, 1]
[valuation]
law = "uniform"
low = 0
high = 1
[query]
kind = "count"
"""
ERROR = '[objective]\nkind = "mean-squared-error"\nrange = 1\n'
WORST = '[objective]\nkind = "worst-case-error"\nrange = 1\n'
WEIGHTS = SMALL.replace('kind = "count"', 'kind = "weighted-sum"\nweights = [1, -1, 2, -2]\nlow = 0\nhigh = 1')


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (SMALL + ERROR + "variance = 0\n", "'variance': must be a finite number > 0"),
        (SMALL + ERROR + "variance = -1\n", "'variance': must be a finite number > 0"),
        (SMALL + ERROR + "variance = 0.6\n", "'variance': must be at most 0.5"),
        (SMALL + ERROR.replace("range = 1\n", ""), "range"),
        (SMALL + ERROR.replace("= 1\n", "= 0\n"), "'range': must be a finite number > 0"),
        (SMALL + ERROR + "population = 3\n", "'population': must be at least the 4 owners"),
        (SMALL + ERROR + "tau = 0\n", "tau"),
        (WEIGHTS + WORST + "noise_scale = 5\n", "weighted sum"),
        (SMALL + WORST + "noise_scale = 0\n", "'noise_scale': must be a finite number > 0"),
        (SMALL + WORST + "private = false\n", "below what they need"),
        (SMALL + '[question]\nkind = "frontier"\n' + WORST, "is asked of purchased privacy or mean squared error"),
        (SMALL + '[question]\nkind = "lasting-budget"\nmoney = 1\n', "is what the question asks for"),
    ],
)
def test_refused_in_one_line_with_nothing_written(model: str, said: str, tmp_path: Path, smqopt: Callable) -> None:
    path, out = tmp_path / "model.toml", tmp_path / "out"
    path.write_text(model, encoding="utf-8")
    stage = "run" if said in ("weighted sum", "below what they need") else "solve"
    called = smqopt(stage, path, "--out", out)
    assert called.code == 2, called.out
    assert said in called.error, called.error
    assert "\n" not in called.error.strip()
    assert [one.name for one in tmp_path.iterdir()] == ["model.toml"]


def test_a_batch_out_of_order_leaves_the_outcome_as_it_was(tmp_path: Path, smqopt: Callable) -> None:
    model, out = tmp_path / "model.toml", tmp_path / "out"
    model.write_text(SMALL, encoding="utf-8")
    assert smqopt("solve", model, "--out", out).code == 0
    assert smqopt("verify", out).code == 0
    for name, rows in {"one": "ann,0.1\nbo,0.1\n", "two": "cy,0.1\ndi,0.1\n", "again": "bo,0.1\n"}.items():
        (tmp_path / f"{name}.csv").write_text("owner,report\n" + rows, encoding="utf-8")
    lasting = ("--payments", "while-it-lasts")
    assert smqopt("procure", out, "--reports", tmp_path / "one.csv", "--batch", *lasting, "--money", "1").code == 0
    before = (out / "outcome.csv").read_bytes()
    for options, said in (
        (("--reports", tmp_path / "again.csv", "--add"), "holds an owner of this batch"),
        (("--reports", tmp_path / "two.csv", "--add", "--money", "2"), "must be that of the earlier batches"),
        (("--reports", tmp_path / "two.csv", "--add", "--payments", "posted"), "must pay by the rule"),
    ):
        called = smqopt("procure", out, *options)
        assert called.code == 2
        assert said in called.error, called.error
        assert (out / "outcome.csv").read_bytes() == before
    assert smqopt("procure", out, "--reports", tmp_path / "two.csv", "--add").code == 0
    assert smqopt("verify", out).code == 0
