"""Wrong input: exit code 2, one line on standard error that names what is wrong, and no output left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOOD = """budget = 1.5
seed = 7
[owners]
table = "owners.csv"
ids = "name"
epsilon = "eps"
reports = "theta"
data = "entry"
[valuation]
law = "uniform"
low = 0
high = 1
[query]
kind = "count"
"""
TABLE = "name,eps,theta,entry\nann,1,0.125,1\nbo,2,0.25,0\n"
FORMULA = 'law = "uniform"\nlow = 0\nhigh = 1', 'cdf = "{}"\nlow = 0\nhigh = 1'

CASES: dict[str, tuple[tuple[str, str] | None, tuple[str, str] | None, list[str]]] = {
    "missing column": (
        None,
        ("name,eps,", "name,epsilon,"),
        ["owners.csv", "'eps'", "is missing", "did you mean 'epsilon'?"],
    ),
    "missing private column": (None, (",entry", ",entries"), ["owners.csv", "'entry'", "did you mean 'entries'?"]),
    "negative requirement": (
        None,
        ("ann,1", "ann,-1"),
        ["model.toml", "'ann' (row 1)", "must be a finite number ≥ 0", "-1.0"],
    ),
    "infinite requirement": (None, ("bo,2", "bo,inf"), ["owners.csv", "'eps', row 2", "finite", "inf"]),
    "requirement as text": (None, ("bo,2", "bo,two"), ["owners.csv", "'eps', row 2", "must be a number", "'two'"]),
    "requirement as date": (None, ("bo,2", "bo,2020-01-01"), ["'eps', row 2", "must be a number"]),
    "NaN among valuations": (
        None,
        ("0.125", "nan"),
        ["owners.csv", "'theta', row 1", "must be a finite number", "not shown"],
    ),
    "negative valuation": (
        None,
        ("0.125", "-0.125"),
        ["model.toml", "owner 'ann'", "must be a finite number ≥ 0", "not shown"],
    ),
    "valuation as text": (None, ("0.125", "cheap"), ["'theta', row 1", "must be a number", "not shown"]),
    "entry out of range": (None, ("0.25,0", "0.25,7"), ["model.toml", "'bo'", "must be 0 or 1", "not shown"]),
    "infinite entry": (None, ("0.25,0", "0.25,inf"), ["owner 'bo'", "not shown"]),
    "low above high": (("low = 0", "low = 3"), None, ["model.toml", "'high'", "must exceed low", "1.0"]),
    "empty table": (None, (TABLE, ""), ["owners.csv", "the table is empty"]),
    "table without rows": (None, (TABLE, "name,eps,theta,entry\n"), ["owners.csv", "the table is empty", "0 rows"]),
    "row too short": (None, (",0.25,0", ""), ["owners.csv line 3", "must have 4 fields", "2"]),
    "row too long": (None, ("0.25,0", "0.25,0,9"), ["owners.csv line 3", "must have 4 fields", "5"]),
    "duplicate ids": (None, ("bo", "ann"), ["model.toml", "row 2", "repeats the name of row 1", "'ann'"]),
    "table missing": (("owners.csv", "owner.csv"), None, ["owner.csv", "cannot be read"]),
    "table a folder": (("owners.csv", "."), None, ["is not a file"]),
    "unknown key": (("seed", "sed"), None, ["model.toml", "'sed'", "is unknown", "did you mean 'seed'?"]),
    "budget as text": (
        ("1.5", '"1.5"'),
        None,
        ["model.toml", "'budget'", "must be a number", "'1.5'", "without quotes"],
    ),
    "budget infinite": (("1.5", "inf"), None, ["'budget'", "finite"]),
    "budget negative": (("1.5", "-1.5"), None, ["'budget'", "≥ 0", "-1.5"]),
    "budget a date": (("1.5", "2020-01-01"), None, ["'budget'", "must be a number"]),
    "syntax": (("[owners]", "[owners"), None, ["model.toml", "is not TOML", "line 3"]),
    "another encoding": (("seed = 7", "seed = 7 # \xe9"), None, ["model.toml", "is not UTF-8"]),
    "code for a formula": (
        (FORMULA[0], FORMULA[1].format('__import__(\\"os\\").system(\\"true\\")')),
        None,
        ["model.toml", "[valuation]"],
    ),
    "attribute in a formula": ((FORMULA[0], FORMULA[1].format("theta.__class__")), None, ["model.toml", "[valuation]"]),
    "formula out of order": ((FORMULA[0], FORMULA[1].format("theta*(")), None, ["model.toml", "[valuation]"]),
    "formula that falls": (
        (FORMULA[0], FORMULA[1].format("4*theta**3 - 6*theta**2 + 3*theta - 0.5*theta + 0.5*theta**2")),
        None,
        ["model.toml"],
    ),
    "formula that does not reach 1": ((FORMULA[0], FORMULA[1].format("theta/2")), None, ["model.toml"]),
    "formula that does not start at 0": ((FORMULA[0], FORMULA[1].format("(1 + theta)/2")), None, ["model.toml"]),
    "no data": (('data = "entry"\n', ""), None, ["model.toml", "'owners.data'", "is missing"]),
    "no query": (('[query]\nkind = "count"\n', ""), None, ["model.toml", "'query'", "is missing"]),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str, tmp_path: Path, smqopt: Callable) -> None:
    in_model, in_table, told = CASES[case]
    model, table = GOOD, TABLE
    if in_model is not None:
        assert in_model[0] in model
        model = model.replace(*in_model)
    if in_table is not None:
        assert in_table[0] in table
        table = table.replace(*in_table)
    (tmp_path / "model.toml").write_bytes(model.encode("latin-1"))
    (tmp_path / "owners.csv").write_text(table, encoding="utf-8")
    called = smqopt("run", tmp_path / "model.toml", "--out", tmp_path / "out")
    assert (called.code, called.out) == (2, "")
    for words in told:
        assert words in called.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.toml", "owners.csv"]


def test_the_model_that_the_cases_spoil_is_good(tmp_path: Path, smqopt: Callable) -> None:
    (tmp_path / "model.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "owners.csv").write_text(TABLE, encoding="utf-8")
    assert smqopt("run", tmp_path / "model.toml", "--out", tmp_path / "out").code == 0


def test_a_missing_model(tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt("run", tmp_path / "nothing.toml", "--out", tmp_path / "out")
    assert called.code == 2
    assert "nothing.toml: cannot be read" in called.error
    assert list(tmp_path.iterdir()) == []


def test_a_formula_never_runs(tmp_path: Path, smqopt: Callable) -> None:
    bait = tmp_path / "bait"
    text = f'__import__("pathlib").Path("{bait}").touch()'
    called = smqopt("derive", "--cdf", text, "--low", "0", "--high", "1")
    assert called.code == 2
    assert "--cdf" in called.error
    assert not bait.exists()


def test_an_output_folder_with_other_files(tmp_path: Path, smqopt: Callable) -> None:
    (tmp_path / "model.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "owners.csv").write_text(TABLE, encoding="utf-8")
    called = smqopt("run", tmp_path / "model.toml", "--out", tmp_path)
    assert called.code == 2
    assert "hold earlier outputs alone" in called.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.toml", "owners.csv"]
