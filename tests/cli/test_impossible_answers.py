"""`smqopt verify` refuses an answer that no entries give, and figures that the purchase does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smqopt as smq
from smqopt.files import read_json, write_json
from smqopt.query import is_possible

MODEL = """budget = 1.5
{seed}
[owners]
epsilon = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
reports = [0, 0, 0, 0, 0, 0]
data = {data}
[valuation]
law = "uniform"
low = 0.0
high = 0.25
[query]
{query}
"""
QUERIES = {
    "count": ('kind = "count"', [0, 1, 1, 0, 1, 1], [1e9, -7.3, [1, 2, 3], 0.5, 1.5, 7, "3", True, None, -1]),
    "median": ('kind = "median"\nlow = 0\nhigh = 9', [1, 2, 3, 4, 5, 6], [10, -1, 2.5, 3.0, [3], True, 1e300]),
    "sum": ('kind = "sum"\nlow = 0\nhigh = 1\nstep = 0.5', [0, 1, 1, 0, 1, 0.5], [1e9, -7.3, 0.123, [1.0], "1", 1e300]),
    "mean": ('kind = "mean"\nlow = 0\nhigh = 1', [0, 1, 1, 0, 1, 0.5], [1.5, -0.1, 1 / 3, [0.5]]),
    "histogram": ('kind = "histogram"\nedges = [0, 1, 2]', [0, 1, 1, 0, 1, 1], [3, [3.0], [1.0, 2.0, 3.0], [0.5, 1.0], [-1.0, 2.0]]),
    "joint-histogram": ('kind = "joint-histogram"\nedges = [0, 1, 2]', [0, 1, 1, 0, 1, 1], [3, [6.0, 6.0], [0.0, 0.0], [0.5, 5.5]]),
}  # fmt: skip


def is_number(value: Any) -> bool:
    return all(type(one) in (int, float) for one in (value if isinstance(value, list) else [value]))


def folder_of(kind: str, place: Path, smqopt: Callable, *more: object) -> Path:
    query, data, _ = QUERIES[kind]
    (place / "model.toml").write_text(
        MODEL.format(query=query, data=data, seed="" if more else "seed = 7"), encoding="utf-8"
    )
    assert smqopt("run", place / "model.toml", "--out", place / "out", *more).code == 0
    if kind in ("count", "mean") and not more:  # the linear release may give any number of the range
        again = ("--model", place / "model.toml", "--estimator", "P-E", "--seed", 7)
        assert smqopt("answer", place / "out", *again).code == 0
    return place / "out"


@pytest.mark.parametrize("kind", QUERIES)
def test_values_that_no_entries_give_are_refused(kind: str, tmp_path: Path, smqopt: Callable) -> None:
    out = folder_of(kind, tmp_path, smqopt)
    honest = read_json(out / "answer.json")
    assert smqopt("verify", out).code == 0
    for value in QUERIES[kind][2]:
        write_json(out / "answer.json", {**honest, "value": value})
        called = smqopt("verify", out)
        assert called.code == (1 if is_number(value) else 2), (value, called)
        assert "key 'value'" in called.error


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("note", "certified exact, no noise"),
        ("ledger_head", "0" * 64),
        ("charge", "0" * 32),
        ("invented", 1),
        ("seed", -1),
        ("seed", 1.5),
        ("simulation", False),
        ("bought", 5),
        ("noise_half_width", 0.0),
    ],
)
def test_figures_that_the_purchase_does_not_give_are_refused(
    key: str, value: Any, tmp_path: Path, smqopt: Callable
) -> None:
    out = folder_of("count", tmp_path, smqopt)
    honest = read_json(out / "answer.json")
    write_json(out / "answer.json", {**honest, key: value})
    called = smqopt("verify", out)
    assert called.code in (1, 2)
    assert f"key '{key}'" in called.error


def test_a_charge_is_looked_up_in_the_ledger(tmp_path: Path, smqopt: Callable) -> None:
    ledger, other = tmp_path / "ledger", tmp_path / "other"
    out = folder_of("count", tmp_path, smqopt, "--ledger", ledger)
    honest = read_json(out / "answer.json")
    called = smqopt("verify", out)
    assert called.code == 0
    assert "ledger_head" in called.out.split("unchecked:")[1]
    assert "noise" in called.out.split("unchecked:")[1]
    called = smqopt("verify", out, "--ledger", ledger)
    assert (called.code, "ledger_head" in called.out) == (0, False)
    smq.Ledger(other).charge(["ann"], [1.0], 1)
    assert smqopt("verify", out, "--ledger", other).code == 1
    for change in ({"ledger_head": "0" * 64}, {"charge": "0" * 32}, {"ledger_head": smq.Ledger(other).head}):
        write_json(out / "answer.json", {**honest, **change})
        assert smqopt("verify", out, "--ledger", ledger).code == 1
    write_json(out / "answer.json", {key: honest[key] for key in honest if key not in ("charge", "ledger_head")})
    assert smqopt("verify", out, "--ledger", ledger).code == 1


@pytest.mark.parametrize("kind", ["count", "sum", "mean", "median", "histogram", "joint-histogram"])
def test_every_answer_that_was_drawn_is_possible(kind: str) -> None:
    rng = np.random.default_rng(3)
    query: Any = {
        "count": smq.Count(),
        "sum": smq.Sum(0, 1),
        "mean": smq.Mean(-1, 3, weighting="inverse-probability"),
        "median": smq.Median(0, 9),
        "histogram": smq.Histogram([0, 0.5, 1]),
        "joint-histogram": smq.JointHistogram([0, 0.5, 1]),
    }[kind]
    for run in range(25):
        names = [f"{kind} {run} {owner}" for owner in range(12)]
        market = smq.Market(rng.uniform(0.01, 3, 12), smq.Uniform(0, 1), owner_ids=names)
        certificate = smq.verify(smq.solve(market, rng.uniform(0.5, 6)), prove=False)
        outcome = smq.procure(certificate, rng.random(12))
        if outcome.bought:
            answer = smq.answer(query, rng.integers(0, 2, outcome.bought), outcome, rng=rng)
            value = answer.to_dict()["value"]
            assert is_possible(answer.asked, value, outcome.bought, outcome.population), value
