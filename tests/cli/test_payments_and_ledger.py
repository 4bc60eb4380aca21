"""Payment rules, batches, reserves and ledgers from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from smqopt.files import read_csv, read_json, write_json
from smqopt.query import Ledger

ENTRIES = "owner,data\nann,1\nbo,0\ncy,1\ndi,1\n"
REPORT = "0.4242"


@pytest.fixture
def solved(small: Path, tmp_path: Path, smqopt: Callable) -> Path:
    """A folder with a valid certificate."""
    out = tmp_path / "out"
    assert smqopt("solve", small, "--out", out).code == 0
    assert smqopt("verify", out).code == 0
    return out


def table(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def paid(folder: Path) -> dict[str, float]:
    columns = read_csv(folder / "outcome.csv")
    return {name: float(text) for name, text in zip(columns["owner"], columns["payment"], strict=True)}


def test_the_ex_post_budget_is_kept_and_its_caveats_are_told(solved: Path, small: Path, smqopt: Callable) -> None:
    called = smqopt("procure", solved, "--model", small, "--payments", "ex-post-budget")
    assert (called.code, called.err) == (0, "")
    for word in ("negative", "interim", "not bought receive or pay transfers"):
        assert word in called.out
    assert sum(map(Fraction, paid(solved).values())) <= Fraction(read_json(solved / "solution.json")["budget"])
    assert smqopt("verify", solved).code == 0
    record = json.loads(smqopt("procure", solved, "--model", small, "--payments", "ex-post-budget", "--json").out)
    assert record["rule"] == "ex-post-budget"
    assert len(record["caveats"]) == 4
    assert smqopt("procure", solved, "--model", small, "--payments", "cash").code == 2


def test_batches_are_added_and_nobody_is_bought_twice(solved: Path, tmp_path: Path, smqopt: Callable) -> None:
    monday = table(tmp_path, "monday.csv", "owner,report\ndi,0.2\nann,\nbo,0.1\n")
    tuesday = table(tmp_path, "tuesday.csv", "owner,report\nann,0.1\ncy,0.9\n")
    assert smqopt("procure", solved, "--reports", monday, "--batch").code == 0
    assert list(paid(solved)) == ["bo", "di"]
    called = smqopt("procure", solved, "--reports", tuesday, "--add", "--json")
    assert called.code == 0
    assert json.loads(called.out)["batches"] == 2
    assert list(paid(solved)) == ["ann", "bo", "cy", "di"]
    assert smqopt("verify", solved).code == 0
    before = (solved / "outcome.csv").read_bytes()
    called = smqopt("procure", solved, "--reports", monday, "--add")
    assert called.code == 2
    assert "must not hold an owner twice" in called.error
    assert (solved / "outcome.csv").read_bytes() == before


BAD_BATCHES = {
    "stranger": (f"owner,report\neve,{REPORT}\n", "must be an owner of the market (found 'eve')"),
    "twice": (f"owner,report\nbo,{REPORT}\nbo,{REPORT}\n", "repeats an owner (found 'bo')"),
    "nobody": ("owner,report\nbo,\n", "is empty"),
    "negative": (f"owner,report\nann,\nbo,-{REPORT}\n", "owner 'bo': must be a finite number ≥ 0 (value not shown"),
    "text": ("owner,report\nann,\nbo,secret\n", "row 2: must be a number (value not shown"),
}


@pytest.mark.parametrize("case", BAD_BATCHES)
def test_bad_batches(case: str, solved: Path, tmp_path: Path, smqopt: Callable) -> None:
    text, told = BAD_BATCHES[case]
    called = smqopt("procure", solved, "--reports", table(tmp_path, "reports.csv", text), "--batch")
    assert called.code == 2
    assert told in called.error
    assert REPORT not in called.error
    assert "secret" not in called.error
    assert not (solved / "outcome.csv").exists()


def test_a_batch_needs_a_table_and_something_to_be_added_to(
    solved: Path, small: Path, tmp_path: Path, smqopt: Callable
) -> None:
    assert "belong to --reports" in smqopt("procure", solved, "--model", small, "--batch").error
    one = table(tmp_path, "one.csv", "owner,report\nbo,0.1\n")
    assert "'outcome.csv': is missing" in smqopt("procure", solved, "--reports", one, "--add").error


def test_a_release_is_charged_and_the_last_one_refused(
    solved: Path, small: Path, tmp_path: Path, smqopt: Callable
) -> None:
    assert smqopt("procure", solved, "--model", small).code == 0
    entries, ledger = table(tmp_path, "entries.csv", ENTRIES), tmp_path / "ledger.txt"
    ask = ("answer", solved, "--data", entries, "--query", "count", "--ledger", ledger, "--share", "1/2")
    for _ in range(2):
        called = smqopt(*ask)
        assert (called.code, called.err) == (0, "")
        assert "spends 1/2 of every requirement" in called.out
        assert smqopt("verify", solved).code == 0
    answered = (solved / "answer.json").read_bytes()
    called = smqopt(*ask)
    assert called.code == 1
    assert "has nothing of her requirement left" in called.error
    assert (solved / "answer.json").read_bytes() == answered
    record = read_json(solved / "answer.json")
    assert record["charge"] == Ledger(ledger).charges[1].number
    assert "simulation" in smqopt(*ask, "--seed", "1").error
    assert smqopt(*ask[:-1], "2").code == 2
    write_json(solved / "answer.json", record | {"share": "2"})
    assert smqopt("verify", solved).code == 2


def test_a_run_may_hold_back_and_pay_within_the_budget(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    out = tmp_path / "run"
    called = smqopt("run", small, "--out", out, "--reserve", "0.05", "--payments", "ex-post-budget", "--share", "1/3")
    assert called.code == 0
    assert "with probability at most 0.05" in called.out
    held = read_json(out / "reserve.json")
    assert held["budget"] == 1.5
    assert held["solved_for"] == read_json(out / "solution.json")["budget"] < 1.5
    assert held["amount"] <= 1.5
    verified = smqopt("verify", out)
    assert verified.code == 0
    assert "reserve.json" in verified.out
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "A single payment can be negative: that owner owes the broker." in report
    assert "spends the share 1/3" in report
    assert smqopt("procure", out, "--model", small).code == 0  # the model's budget, less its reserve
    assert "may exceed" in smqopt("procure", out, "--model", small).out
    for change in ({"amount": 1.0}, {"probability": 0.01}, {"solved_for": 1.5}, {"budget": 9.0}):
        write_json(out / "reserve.json", held | change)
        assert smqopt("verify", out).code == 1, change
    write_json(out / "reserve.json", held | {"probability": 2})
    assert smqopt("verify", out).code == 2
    (out / "reserve.json").unlink()
    assert "is not the budget of the folder" in smqopt("procure", out, "--model", small).error


@pytest.mark.parametrize("probability", ["0", "1", "-1", "nan", "x"])
def test_a_bad_probability(probability: str, small: Path, tmp_path: Path, smqopt: Callable) -> None:
    assert smqopt("solve", small, "--out", tmp_path / "out", "--reserve", probability).code == 2
    assert not (tmp_path / "out").exists()


def test_a_run_with_a_seed_is_not_charged(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt("run", small, "--out", tmp_path / "out", "--ledger", tmp_path / "ledger.txt")
    assert called.code == 2
    assert "this is a simulation" in called.error
    assert not (tmp_path / "ledger.txt").exists()
